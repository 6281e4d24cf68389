//! Episodes as flat arrays cut by offsets: what learning reads.

use std::collections::HashMap;
use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::error::{Error, Result};

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

    /// XXH3-64 of what an episode showed first, of its actions, observations, rewards and end.
    fn hash(&self, episode: usize, seed: u64) -> u64 {
        let mut hasher = Xxh3::with_seed(seed);
        if let Some(first) = self.first(episode) {
            hasher.update(&(first as u64).to_le_bytes());
        }
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
    pub(crate) fn symbol(&self, step: usize) -> usize {
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
        if let Some(first) = self.first_observations {
            if first.len() != self.n_episodes() {
                let remedy = format!("there are {} episodes", self.n_episodes());
                return Err(Error::argument(
                    "first_observations",
                    format!("array of length {}", first.len()),
                    remedy,
                ));
            }
            if let Some(bad) = first.iter().find(|&&o| o < 0 || o as usize >= self.n_observations) {
                let remedy = format!("choose 0 to {}", self.n_observations - 1);
                return Err(Error::argument("first_observations", bad, remedy));
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
            first_observations: None,
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
}
