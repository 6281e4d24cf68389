//! Episodes as flat arrays cut by offsets: recorded here, or borrowed from the caller.

use std::mem::take;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::parallel::for_each;

/// Symbol of an action and the observation that followed it; defined here and nowhere else.
#[inline]
pub fn symbol(action: i32, observation: i32, n_observations: usize) -> usize {
    action as usize * n_observations + observation as usize
}

/// What stands for the start of an episode that shows nothing before its first action. The symbols of what others show
/// first are those of the action `n_actions`.
pub fn start_symbol(n_actions: usize, n_observations: usize) -> usize {
    n_actions.saturating_add(1).saturating_mul(n_observations)
}

/// Episodes that were recorded here. Step arrays share one length; episode `i` is `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    pub(crate) actions: Vec<i32>,
    pub(crate) observations: Vec<i32>,
    pub(crate) rewards: Vec<f64>,
    pub(crate) behavior_probs: Vec<f64>,
    pub(crate) offsets: Vec<i64>,
    pub(crate) terminated: Vec<bool>,
    /// What episodes showed before their first action; empty where nothing is shown.
    pub first_observations: Vec<i32>,
}

impl Trajectories {
    /// None yet, with memory for so many.
    pub(crate) fn new(episodes: usize, steps: usize) -> Self {
        let mut offsets = Vec::with_capacity(episodes + 1);
        offsets.push(0);
        Trajectories {
            actions: Vec::with_capacity(steps),
            observations: Vec::with_capacity(steps),
            rewards: Vec::with_capacity(steps),
            behavior_probs: Vec::with_capacity(steps),
            offsets,
            ..Default::default()
        }
    }

    #[inline]
    pub(crate) fn push_step(&mut self, action: usize, observation: usize, reward: f64, behavior_prob: f64) {
        self.actions.push(action as i32);
        self.observations.push(observation as i32);
        self.rewards.push(reward);
        self.behavior_probs.push(behavior_prob);
    }

    pub(crate) fn end_episode(&mut self, terminated: bool, first: Option<usize>) {
        self.first_observations.extend(first.map(|first| first as i32));
        self.offsets.push(self.actions.len() as i64);
        self.terminated.push(terminated);
    }

    /// All blocks, one after the other; copied in parallel, so that joining does not undo the gain of more threads.
    pub fn concatenate(threads: usize, mut blocks: Vec<Trajectories>) -> Result<Trajectories> {
        if blocks.len() == 1 {
            return Ok(blocks.remove(0));
        }
        let (mut offsets, mut base) = (vec![0], 0);
        for block in &blocks {
            offsets.extend(block.offsets[1..].iter().map(|offset| offset + base));
            base += block.actions.len() as i64;
        }
        Ok(Trajectories {
            actions: joined(threads, &mut blocks, |block| &mut block.actions)?,
            observations: joined(threads, &mut blocks, |block| &mut block.observations)?,
            rewards: joined(threads, &mut blocks, |block| &mut block.rewards)?,
            behavior_probs: joined(threads, &mut blocks, |block| &mut block.behavior_probs)?,
            offsets,
            terminated: joined(threads, &mut blocks, |block| &mut block.terminated)?,
            first_observations: joined(threads, &mut blocks, |block| &mut block.first_observations)?,
        })
    }
}

/// One array of all blocks, which lose it.
fn joined<T: Copy + Default + Send>(
    threads: usize,
    blocks: &mut [Trajectories],
    array: fn(&mut Trajectories) -> &mut Vec<T>,
) -> Result<Vec<T>> {
    let parts: Vec<Vec<T>> = blocks.iter_mut().map(|block| take(array(block))).collect();
    let mut all = vec![T::default(); parts.iter().map(Vec::len).sum()];
    let (mut rest, mut places) = (&mut all[..], Vec::with_capacity(parts.len()));
    for part in parts {
        let (place, others) = rest.split_at_mut(part.len());
        places.push((place, part));
        rest = others;
    }
    for_each(threads, places, |(place, part)| place.copy_from_slice(&part))?;
    Ok(all)
}

#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// (steps, width): what came after the actions.
    pub values: &'a [f32],
    /// (episodes, width): what was shown before the first actions, where anything was.
    pub first: Option<&'a [f32]>,
    pub width: usize,
}

impl Columns<'_> {
    /// Refuses columns of other episodes.
    pub fn check(&self, view: &View) -> Result<()> {
        let (steps, episodes) = (view.n_steps(), view.n_episodes());
        if self.values.len() == steps * self.width
            && self.first.is_none_or(|first| first.len() == episodes * self.width)
        {
            return Ok(());
        }
        let remedy = format!("expected {} for each of {steps} steps and {episodes} episodes", self.width);
        Err(Error::argument("columns", format!("{} numbers", self.values.len()), remedy))
    }

    /// What came after the action of a step.
    #[inline]
    pub fn row(&self, step: usize) -> &[f32] {
        &self.values[step * self.width..(step + 1) * self.width]
    }

    /// What an episode showed before its first action.
    pub fn first_row(&self, episode: usize) -> Option<&[f32]> {
        self.first.map(|first| &first[episode * self.width..(episode + 1) * self.width])
    }
}

/// Borrowed episodes: what learning reads. The arrays belong to the caller and are not copied.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) actions: &'a [i32],
    pub(crate) observations: &'a [i32],
    pub(crate) rewards: &'a [f64],
    pub(crate) offsets: &'a [i64],
    pub(crate) behavior_probs: Option<&'a [f64]>,
    /// Whether the world ended an episode, one for each.
    pub terminated: &'a [bool],
    /// What was shown before the first action, one for each episode, where anything was.
    pub first_observations: Option<&'a [i32]>,
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
}

impl View<'_> {
    /// What an episode showed before its first action.
    #[inline]
    pub fn first(&self, episode: usize) -> Option<usize> {
        self.first_observations.map(|first| first[episode] as usize)
    }

    pub(crate) fn n_episodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn n_steps(&self) -> usize {
        self.actions.len()
    }

    #[inline]
    pub(crate) fn episode(&self, index: usize) -> Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// Steps of all episodes before this one.
    pub fn offset(&self, episode: usize) -> usize {
        (self.offsets[episode] - self.offsets[0]) as usize
    }

    #[inline]
    pub(crate) fn symbol(&self, step: usize) -> usize {
        symbol(self.actions[step], self.observations[step], self.n_observations)
    }

    /// Checks everything that later code relies on, and names the first step that breaks it.
    pub fn validate(&self) -> Result<()> {
        self.check_offsets()?;
        let (steps, episodes) = (self.n_steps(), self.n_episodes());
        let lengths = [
            ("observations", self.observations.len(), steps, "actions"),
            ("rewards", self.rewards.len(), steps, "actions"),
            ("behavior_probs", self.behavior_probs.map_or(steps, <[f64]>::len), steps, "actions"),
            (
                "first_observations",
                self.first_observations.map_or(episodes, <[i32]>::len),
                episodes,
                "episodes",
            ),
        ];
        if let Some((name, length, expected, what)) = lengths.into_iter().find(|each| each.1 != each.2) {
            let remedy = format!("there are {expected} {what}; give one for each");
            return Err(Error::argument(name, format!("array of length {length}"), remedy));
        }
        let outside = |&&code: &&i32| code < 0 || code as usize >= self.n_observations;
        if let Some(bad) = self.first_observations.unwrap_or_default().iter().find(outside) {
            let remedy = format!("choose 0 to {}", self.n_observations - 1);
            return Err(Error::argument("first_observations", bad, remedy));
        }
        for episode in 0..episodes {
            let first = self.episode(episode).start;
            for index in self.episode(episode) {
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
        if let Some(index) = self.offsets.windows(2).position(|pair| pair[1] <= pair[0]) {
            let (before, after) = (self.offsets[index], self.offsets[index + 1]);
            let problem = format!("is {after} after {before}; offsets must increase (no empty episodes)");
            return bad(index + 1, problem);
        }
        if last != self.n_steps() as i64 {
            let problem = format!("is {last}, must be the number of steps, {}", self.n_steps());
            return bad(self.offsets.len() - 1, problem);
        }
        Ok(())
    }

    fn problem_at(&self, index: usize) -> Option<String> {
        let (action, observation) = (self.actions[index], self.observations[index]);
        for (name, code, count) in
            [("action", action, self.n_actions), ("observation", observation, self.n_observations)]
        {
            if code < 0 || code as usize >= count {
                return Some(format!("{name} {code} is outside 0..{count} (n_{name}s)"));
            }
        }
        let reward = self.rewards[index];
        if !reward.is_finite() {
            return Some(format!("reward {reward} is not a finite number"));
        }
        let probability = self.behavior_probs.map_or(1.0, |probs| probs[index]);
        (!(probability > 0.0 && probability <= 1.0))
            .then(|| format!("behavior_prob {probability} is outside (0, 1]"))
    }
}
