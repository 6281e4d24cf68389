//! The tables while a file is being read: dense, bounded in size, and bounded in the work done on them.

use std::ops::Range;

use crate::domains::tabular::Rewards;
use crate::error::{Error, Result};
use crate::reserve::{filled, reserve};

/// How often tables may be written over, beyond `max_entries` entries that any file may write: a short line such
/// as `T: * uniform` touches every entry, so without a bound a small file could keep the reader busy for hours.
const REWRITES: usize = 16;

#[derive(Clone, Copy)]
pub struct Sizes {
    pub actions: usize,
    pub states: usize,
    pub observations: usize,
}

impl Sizes {
    /// Entries of T, O and R together; saturates rather than overflows.
    fn entries(&self, by_next_state: bool, by_observation: bool) -> usize {
        let pairs = self.actions.saturating_mul(self.states);
        let rewards = pairs
            .saturating_mul(if by_next_state { self.states } else { 1 })
            .saturating_mul(if by_observation { self.observations } else { 1 });
        let width = self.states.saturating_add(self.observations);
        pairs.saturating_mul(width).saturating_add(rewards)
    }
}

pub struct Tables {
    pub sizes: Sizes,
    /// (A, S, S)
    pub transitions: Vec<f64>,
    /// (A, S', O)
    pub observations: Vec<f64>,
    /// As narrow as the lines so far allow.
    pub rewards: Rewards,
    max_entries: usize,
    written: usize,
}

/// Where a line of rewards applies, and the numbers it brings.
pub struct RewardLine<'n> {
    pub actions: Range<usize>,
    pub states: Range<usize>,
    pub nexts: Range<usize>,
    pub observations: Range<usize>,
    pub numbers: &'n [f64],
    /// Do the numbers run over (state, next state, observation)? One that does not run has one number for all.
    pub runs: [bool; 3],
}

impl Tables {
    pub fn new(sizes: Sizes, max_entries: usize) -> Result<Self> {
        let mut tables = Tables {
            sizes,
            transitions: vec![],
            observations: vec![],
            rewards: Rewards { values: vec![], by_next_state: false, by_observation: false },
            max_entries,
            written: 0,
        };
        tables.refuse_too_large(false, false)?;
        let pairs = sizes.actions * sizes.states;
        tables.transitions = filled(pairs * sizes.states, 0.0, "T")?;
        tables.observations = filled(pairs * sizes.observations, 0.0, "O")?;
        tables.rewards.values = filled(pairs, 0.0, "R")?;
        Ok(tables)
    }

    fn refuse_too_large(&self, by_next_state: bool, by_observation: bool) -> Result<()> {
        let entries = self.sizes.entries(by_next_state, by_observation);
        if entries <= self.max_entries {
            return Ok(());
        }
        let Sizes { actions, states, observations } = self.sizes;
        let needs = format!(
            "{actions} actions, {states} states and {observations} observations need tables of {entries} entries; \
             raise it if you have the memory"
        );
        Err(Error::argument("max_entries", self.max_entries, needs))
    }

    /// Accounts for writing so many entries.
    pub fn spend(&mut self, entries: usize) -> Result<()> {
        self.written = self.written.saturating_add(entries);
        let tables = self.sizes.entries(self.rewards.by_next_state, self.rewards.by_observation);
        if self.written > self.max_entries.saturating_add(tables.saturating_mul(REWRITES)) {
            let problem = format!("the file writes over its tables more than {REWRITES} times; raise it");
            return Err(Error::argument("max_entries", self.max_entries, problem));
        }
        Ok(())
    }

    /// Lets rewards depend on more, by copying what is there.
    fn widen(&mut self, by_next_state: bool, by_observation: bool) -> Result<()> {
        let old = &self.rewards;
        // (A, S, O) is no form of ours: an observation brings the next state with it.
        let by_observation = by_observation || old.by_observation;
        let by_next_state = by_next_state || by_observation || old.by_next_state;
        if (by_next_state, by_observation) == (old.by_next_state, old.by_observation) {
            return Ok(());
        }
        self.refuse_too_large(by_next_state, by_observation)?;
        let next_copies = if by_next_state && !old.by_next_state { self.sizes.states } else { 1 };
        let copies = next_copies * if by_observation { self.sizes.observations } else { 1 };
        let mut values = vec![];
        reserve(&mut values, old.values.len() * copies, "R")?;
        for &value in &old.values {
            values.resize(values.len() + copies, value);
        }
        self.rewards = Rewards { values, by_next_state, by_observation };
        Ok(())
    }

    pub fn set_rewards(&mut self, line: &RewardLine<'_>) -> Result<()> {
        let Sizes { states, observations: width, .. } = self.sizes;
        let [runs_state, runs_next, runs_observation] = line.runs;
        let by_observation =
            line.observations.len() < width || runs_observation && varies(line.numbers, width, 1);
        let block = if runs_observation { width } else { 1 };
        let by_next = line.nexts.len() < states || runs_next && varies(line.numbers, states, block);
        self.widen(by_next, by_observation)?;

        let rewards = &self.rewards;
        let nexts = if rewards.by_next_state { line.nexts.clone() } else { 0..1 };
        let seen = if rewards.by_observation { line.observations.clone() } else { 0..1 };
        self.spend(line.actions.len() * line.states.len() * nexts.len() * seen.len())?;
        // A step of an index that the numbers do not run over moves nowhere among them.
        let next_step = if runs_next { block } else { 0 };
        let state_step = if !runs_state {
            0
        } else if runs_next {
            states * block
        } else {
            1
        };
        let observation_step = usize::from(runs_observation);
        let next_span = if self.rewards.by_next_state { states } else { 1 };
        let observation_span = if self.rewards.by_observation { width } else { 1 };
        for action in line.actions.clone() {
            for state in line.states.clone() {
                for next in nexts.clone() {
                    let row = ((action * states + state) * next_span + next) * observation_span;
                    let first = state * state_step + next * next_step;
                    for seen in seen.clone() {
                        self.rewards.values[row + seen] = line.numbers[first + seen * observation_step];
                    }
                }
            }
        }
        Ok(())
    }

    /// Forgets what rewards turned out not to depend on, and turns costs into rewards.
    pub fn finish_rewards(&mut self, costs: bool) {
        let Sizes { states, observations: width, .. } = self.sizes;
        let rewards = &mut self.rewards;
        if rewards.by_observation && !varies(&rewards.values, width, 1) {
            keep_every(&mut rewards.values, width);
            rewards.by_observation = false;
        }
        if rewards.by_next_state && !rewards.by_observation && !varies(&rewards.values, states, 1) {
            keep_every(&mut rewards.values, states);
            rewards.by_next_state = false;
        }
        if costs {
            // Not `-value`, which would make zeros negative.
            rewards.values.iter_mut().for_each(|value| *value = 0.0 - *value);
        }
    }
}

/// Keeps the first of every `step` values, in place: there may be no room for another table.
fn keep_every(values: &mut Vec<f64>, step: usize) {
    let kept = values.len() / step;
    for index in 0..kept {
        values[index] = values[index * step];
    }
    values.truncate(kept);
    values.shrink_to_fit();
}

/// Do numbers in the shape (…, count, block) change along `count`?
fn varies(numbers: &[f64], count: usize, block: usize) -> bool {
    numbers.chunks_exact(count * block).any(|group| group[block..] != group[..group.len() - block])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { actions: 1, states: 2, observations: 3 };

    fn everywhere(numbers: &[f64], runs: [bool; 3]) -> RewardLine<'_> {
        RewardLine { actions: 0..1, states: 0..2, nexts: 0..2, observations: 0..3, numbers, runs }
    }

    #[test]
    fn rewards_widen_only_as_far_as_they_must_and_narrow_again() {
        let mut tables = Tables::new(SIZES, 1000).unwrap();
        tables.set_rewards(&everywhere(&[5.0; 6], [false, true, true])).unwrap();
        assert_eq!(tables.rewards.values, [5.0, 5.0]);
        tables.set_rewards(&everywhere(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [false, true, true])).unwrap();
        assert_eq!(tables.rewards.values, [1.0, 2.0, 1.0, 2.0]);
        tables.set_rewards(&RewardLine { observations: 1..2, ..everywhere(&[7.0], [false; 3]) }).unwrap();
        assert_eq!(tables.rewards.values, [1.0, 7.0, 1.0, 2.0, 7.0, 2.0, 1.0, 7.0, 1.0, 2.0, 7.0, 2.0]);
        tables.set_rewards(&everywhere(&[3.0, 4.0], [true, false, false])).unwrap();
        tables.finish_rewards(true);
        assert_eq!(
            tables.rewards,
            Rewards { values: vec![-3.0, -4.0], by_next_state: false, by_observation: false }
        );
    }

    #[test]
    fn size_and_work_are_bounded() {
        let huge = Sizes { actions: 1 << 20, states: 1 << 20, observations: 1 << 40 };
        assert!(Tables::new(huge, 1 << 28).is_err());
        let mut tables = Tables::new(SIZES, 14).unwrap();
        let narrow = RewardLine { observations: 1..2, ..everywhere(&[7.0], [false; 3]) };
        assert!(tables.set_rewards(&narrow).is_err());
        assert!((0..1000).any(|_| tables.set_rewards(&everywhere(&[7.0], [false; 3])).is_err()));
    }
}
