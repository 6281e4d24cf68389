//! Episodes that are being recorded, and blocks of them joined.

use crate::error::Result;
use crate::parallel::for_each;

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
    pub(crate) fn new() -> Self {
        Trajectories { offsets: vec![0], ..Default::default() }
    }

    pub(crate) fn reserve(&mut self, episodes: usize, steps: usize) {
        self.actions.reserve(steps);
        self.observations.reserve(steps);
        self.rewards.reserve(steps);
        self.behavior_probs.reserve(steps);
        self.offsets.reserve(episodes);
        self.terminated.reserve(episodes);
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
        let steps = blocks.iter().map(|block| block.actions.len()).sum();
        let episodes = blocks.iter().map(|block| block.terminated.len()).sum();
        let mut all = Trajectories {
            actions: vec![0; steps],
            observations: vec![0; steps],
            rewards: vec![0.0; steps],
            behavior_probs: vec![0.0; steps],
            offsets: vec![0; episodes + 1],
            terminated: vec![false; episodes],
            first_observations: blocks.iter().flat_map(|block| &block.first_observations).copied().collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_join_alike_for_any_number_of_threads() {
        let block = |actions: &[i32]| {
            let mut block = Trajectories::new();
            for &action in actions {
                block.push_step(action as usize, 1, f64::from(action), 0.5);
                block.end_episode(action == 1, Some(action as usize));
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
