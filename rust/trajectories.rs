//! Episodes as flat arrays cut by offsets: storage, validation, selection.

use std::collections::HashMap;
use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::error::{Error, Result};
use crate::parallel::for_each;

/// Symbol of an action and the observation that followed it; defined here and nowhere else.
#[inline]
pub fn symbol(action: i32, observation: i32, n_observations: usize) -> usize {
    action as usize * n_observations + observation as usize
}

/// Episodes that were recorded here. Step arrays share one length; episode `i` is `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub actions: Vec<i32>,
    pub observations: Vec<i32>,
    pub rewards: Vec<f64>,
    pub behavior_probs: Vec<f64>,
    pub offsets: Vec<i64>,
    pub terminated: Vec<bool>,
}

impl Trajectories {
    pub fn new() -> Self {
        Trajectories { offsets: vec![0], ..Default::default() }
    }

    pub fn reserve(&mut self, episodes: usize, steps: usize) {
        self.actions.reserve(steps);
        self.observations.reserve(steps);
        self.rewards.reserve(steps);
        self.behavior_probs.reserve(steps);
        self.offsets.reserve(episodes);
        self.terminated.reserve(episodes);
    }

    #[inline]
    pub fn push_step(&mut self, action: usize, observation: usize, reward: f64, behavior_prob: f64) {
        self.actions.push(action as i32);
        self.observations.push(observation as i32);
        self.rewards.push(reward);
        self.behavior_probs.push(behavior_prob);
    }

    pub fn end_episode(&mut self, terminated: bool) {
        self.offsets.push(self.actions.len() as i64);
        self.terminated.push(terminated);
    }

    /// All blocks, one after the other; copied in parallel, so that joining does not undo the gain of more threads.
    pub fn concatenate(threads: usize, mut blocks: Vec<Trajectories>) -> Result<Trajectories> {
        if blocks.len() == 1 {
            return Ok(blocks.remove(0));
        }
        let steps = blocks.iter().map(|block| block.actions.len()).sum();
        let episodes = blocks.iter().map(|block| block.terminated.len()).sum();
        let mut all = Trajectories {
            actions: vec![0; steps],
            observations: vec![0; steps],
            rewards: vec![0.0; steps],
            behavior_probs: vec![0.0; steps],
            offsets: vec![0; episodes + 1],
            terminated: vec![false; episodes],
        };
        let (mut actions, mut observations) = (&mut all.actions[..], &mut all.observations[..]);
        let (mut rewards, mut probs) = (&mut all.rewards[..], &mut all.behavior_probs[..]);
        let (mut offsets, mut terminated) = (&mut all.offsets[1..], &mut all.terminated[..]);
        let mut base = 0;
        let mut places = Vec::with_capacity(blocks.len());
        for block in blocks {
            let (steps, episodes) = (block.actions.len(), block.terminated.len());
            places.push(Place {
                actions: cut(&mut actions, steps),
                observations: cut(&mut observations, steps),
                rewards: cut(&mut rewards, steps),
                behavior_probs: cut(&mut probs, steps),
                offsets: cut(&mut offsets, episodes),
                terminated: cut(&mut terminated, episodes),
                base,
                block,
            });
            base += steps as i64;
        }
        for_each(threads, places, Place::fill)?;
        Ok(all)
    }
}

/// A block and the stretch of the whole that it goes to.
struct Place<'a> {
    block: Trajectories,
    base: i64,
    actions: &'a mut [i32],
    observations: &'a mut [i32],
    rewards: &'a mut [f64],
    behavior_probs: &'a mut [f64],
    offsets: &'a mut [i64],
    terminated: &'a mut [bool],
}

impl Place<'_> {
    fn fill(self) {
        self.actions.copy_from_slice(&self.block.actions);
        self.observations.copy_from_slice(&self.block.observations);
        self.rewards.copy_from_slice(&self.block.rewards);
        self.behavior_probs.copy_from_slice(&self.block.behavior_probs);
        self.terminated.copy_from_slice(&self.block.terminated);
        for (place, offset) in self.offsets.iter_mut().zip(&self.block.offsets[1..]) {
            *place = offset + self.base;
        }
    }
}

/// Takes the first `length` entries off `rest`.
fn cut<'a, T>(rest: &mut &'a mut [T], length: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(length);
    *rest = others;
    first
}

/// Borrowed episodes: what learning reads. The arrays belong to the caller and are not copied.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub actions: &'a [i32],
    pub observations: &'a [i32],
    pub rewards: &'a [f64],
    pub offsets: &'a [i64],
    pub behavior_probs: Option<&'a [f64]>,
    /// Whether the world ended an episode, one for each.
    pub terminated: &'a [bool],
    pub n_actions: usize,
    pub n_observations: usize,
}

impl<'a> View<'a> {
    pub fn n_episodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn n_steps(&self) -> usize {
        self.actions.len()
    }

    #[inline]
    pub fn episode(&self, index: usize) -> Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// Steps of all episodes before this one.
    pub fn offset(&self, episode: usize) -> usize {
        (self.offsets[episode] - self.offsets[0]) as usize
    }

    /// XXH3-64 of an episode's actions, observations, rewards and end.
    fn hash(&self, episode: usize, seed: u64) -> u64 {
        let mut hasher = Xxh3::with_seed(seed);
        for step in self.episode(episode) {
            hasher.update(&self.actions[step].to_le_bytes());
            hasher.update(&self.observations[step].to_le_bytes());
            hasher.update(&self.rewards[step].to_le_bytes());
        }
        hasher.update(&[u8::from(self.terminated[episode])]);
        hasher.digest()
    }

    /// By which episodes are drawn: those with the lowest numbers first.
    ///
    /// A hash of the content, so that it does not matter where an episode lies. Copies of an episode must not all be
    /// drawn or none of them: from the second on they are hashed with their number and with all the data.
    pub fn priorities(&self, seed: u64) -> Vec<u64> {
        let hashes: Vec<u64> = (0..self.n_episodes()).map(|episode| self.hash(episode, seed)).collect();
        let mut all = Xxh3::with_seed(seed);
        hashes.iter().for_each(|hash| all.update(&hash.to_le_bytes()));
        let (salt, mut copies) = (all.digest(), HashMap::<u64, u64>::new());
        let priority = |&hash: &u64| {
            let copy = copies.entry(hash).or_insert(0);
            *copy += 1;
            if *copy == 1 { hash } else { xxh3_64_with_seed(&copy.to_le_bytes(), hash ^ salt) }
        };
        hashes.iter().map(priority).collect()
    }

    #[inline]
    pub fn symbol(&self, step: usize) -> usize {
        symbol(self.actions[step], self.observations[step], self.n_observations)
    }

    /// Checks everything that later code relies on, and names the first step that breaks it.
    pub fn validate(&self) -> Result<()> {
        self.check_offsets()?;
        let lengths = [
            ("observations", self.observations.len()),
            ("rewards", self.rewards.len()),
            ("behavior_probs", self.behavior_probs.map_or(self.n_steps(), <[f64]>::len)),
        ];
        for (name, length) in lengths {
            if length != self.n_steps() {
                let remedy = format!(
                    "there are {} actions; every step array must have the same length",
                    self.n_steps()
                );
                return Err(Error::argument(name, format!("array of length {length}"), remedy));
            }
        }
        for episode in 0..self.n_episodes() {
            let range = self.episode(episode);
            let first = range.start;
            for index in range {
                if let Some(problem) = self.problem_at(index) {
                    return Err(Error::Step { episode, step: index - first, problem });
                }
            }
        }
        Ok(())
    }

    fn check_offsets(&self) -> Result<()> {
        let bad = |index: usize, problem: String| Err(Error::Offsets { index, problem });
        let (Some(&first), Some(&last)) = (self.offsets.first(), self.offsets.last()) else {
            return bad(0, "the array is empty; it needs n_episodes + 1 entries, the first 0".into());
        };
        if first != 0 {
            return bad(0, format!("is {first}, must be 0"));
        }
        for (index, pair) in self.offsets.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                return bad(
                    index + 1,
                    format!("is {} after {}; offsets must increase (no empty episodes)", pair[1], pair[0]),
                );
            }
        }
        if last != self.n_steps() as i64 {
            return bad(
                self.offsets.len() - 1,
                format!("is {last}, must be the number of steps, {}", self.n_steps()),
            );
        }
        Ok(())
    }

    fn problem_at(&self, index: usize) -> Option<String> {
        let (action, observation, reward) =
            (self.actions[index], self.observations[index], self.rewards[index]);
        if action < 0 || action as usize >= self.n_actions {
            return Some(format!("action {action} is outside 0..{} (n_actions)", self.n_actions));
        }
        if observation < 0 || observation as usize >= self.n_observations {
            return Some(format!(
                "observation {observation} is outside 0..{} (n_observations)",
                self.n_observations
            ));
        }
        if !reward.is_finite() {
            return Some(format!("reward {reward} is not a finite number"));
        }
        let probability = self.behavior_probs.map_or(1.0, |probs| probs[index]);
        if !(probability > 0.0 && probability <= 1.0) {
            return Some(format!("behavior_prob {probability} is outside (0, 1]"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view<'a>(actions: &'a [i32], rewards: &'a [f64], offsets: &'a [i64]) -> View<'a> {
        View {
            actions,
            observations: actions,
            rewards,
            offsets,
            behavior_probs: None,
            terminated: &[],
            n_actions: 2,
            n_observations: 2,
        }
    }

    #[test]
    fn the_bad_step_is_named() {
        let error = view(&[0, 1, 2], &[0.0; 3], &[0, 1, 3]).validate().unwrap_err();
        assert_eq!(error.to_string(), "episode 1, step 1: action 2 is outside 0..2 (n_actions)");
        let error = view(&[0, 1], &[0.0, f64::NAN], &[0, 2]).validate().unwrap_err();
        assert!(error.to_string().starts_with("episode 0, step 1: reward NaN"));
    }

    #[test]
    fn offsets_must_increase_and_cover() {
        assert!(view(&[0, 1], &[0.0; 2], &[0, 2]).validate().is_ok());
        for offsets in [&[0, 0, 2][..], &[0, 1], &[1, 2], &[], &[0, 3]] {
            assert!(matches!(view(&[0, 1], &[0.0; 2], offsets).validate(), Err(Error::Offsets { .. })));
        }
    }

    #[test]
    fn blocks_join_alike_for_any_number_of_threads() {
        let block = |actions: &[i32]| {
            let mut block = Trajectories::new();
            for &action in actions {
                block.push_step(action as usize, 1, f64::from(action), 0.5);
                block.end_episode(action == 1);
            }
            block
        };
        for threads in [1, 3] {
            let joined =
                Trajectories::concatenate(threads, vec![block(&[0, 1]), block(&[2]), block(&[1, 0])]);
            assert_eq!(joined.unwrap(), block(&[0, 1, 2, 1, 0]));
        }
    }
}
