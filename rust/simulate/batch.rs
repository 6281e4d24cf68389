//! One policy acting in many episodes at once.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::parallel::for_each;
use crate::rng::Rng;
use crate::simulate::policy::{Policy, Seen};

/// How many episodes a thread takes at a time.
const BLOCK: usize = 256;

/// Memories and random streams of `n` episodes that run side by side; each has a stream of its own, so the actions
/// do not depend on the number of threads.
pub struct Batch<P: Policy> {
    policy: Arc<P>,
    memories: Vec<P::Memory>,
    rngs: Vec<Rng>,
}

/// What was seen in every episode.
pub enum AllSeen<'a> {
    Codes(&'a [i64]),
    Rows(&'a [f32], usize),
}

impl AllSeen<'_> {
    #[inline]
    fn of(&self, episode: usize) -> Seen<'_> {
        match *self {
            AllSeen::Codes(codes) => Seen::Code(codes[episode] as usize),
            AllSeen::Rows(rows, width) => Seen::Row(&rows[episode * width..(episode + 1) * width]),
        }
    }
}

pub trait Episodes: Send {
    /// Probability of every action in every episode, or what it is worth: (episodes, actions), row-major.
    fn by_action(&self, values: bool, threads: usize) -> Result<Vec<f64>>;
    fn act(&mut self, threads: usize) -> Result<Vec<i64>>;
    /// Takes in what happened in every episode.
    fn update(&mut self, actions: &[i64], seen: &AllSeen, threads: usize) -> Result<()>;
    /// Begins the marked episodes anew, with what they show before the first action if they show anything.
    fn reset(&mut self, starts: &[bool], first: Option<&AllSeen>) -> Result<()>;
}

impl<P: Policy> Batch<P> {
    pub(crate) fn new(policy: Arc<P>, n: usize, seed: u64) -> Self {
        let memories = vec![policy.start(); n];
        let rngs = (0..n as u64).map(|episode| Rng::stream(seed, episode)).collect();
        Batch { policy, memories, rngs }
    }

    /// Refuses what is not of this policy, or not one for every episode.
    fn check_seen(&self, all: &'static str, one: &'static str, seen: &AllSeen) -> Result<()> {
        match seen {
            AllSeen::Codes(codes) => {
                self.check_length(all, codes.len())?;
                check_below(one, codes, self.policy.n_observations())
            }
            AllSeen::Rows(rows, width) => {
                if self.policy.column_sizes().is_none_or(|sizes| sizes.len() != *width) {
                    let remedy = "give as many as the policy has `column_sizes`, or codes if it has none";
                    return Err(Error::argument(all, format!("{width} columns"), remedy));
                }
                self.check_length(all, rows.len() / width.max(&1))
            }
        }
    }

    fn check_length(&self, name: &'static str, length: usize) -> Result<()> {
        if length == self.memories.len() {
            return Ok(());
        }
        let remedy = format!("there are {} episodes", self.memories.len());
        Err(Error::argument(name, format!("array of length {length}"), remedy))
    }
}

fn check_below(name: &'static str, values: &[i64], limit: usize) -> Result<()> {
    match values.iter().position(|&value| value < 0 || value as usize >= limit) {
        None => Ok(()),
        Some(episode) => {
            let remedy = format!("episode {episode} of the batch: choose 0 to {}", limit - 1);
            Err(Error::argument(name, values[episode], remedy))
        }
    }
}

impl<P: Policy> Episodes for Batch<P> {
    fn by_action(&self, values: bool, threads: usize) -> Result<Vec<f64>> {
        let (policy, n_actions) = (&self.policy, self.policy.n_actions());
        let mut rows = vec![0.0; self.memories.len() * n_actions];
        let blocks: Vec<_> = self.memories.chunks(BLOCK).zip(rows.chunks_mut(BLOCK * n_actions)).collect();
        for_each(threads, blocks, |(memories, rows)| {
            for (memory, row) in memories.iter().zip(rows.chunks_mut(n_actions)) {
                if values { policy.q_values(memory, row) } else { policy.action_probs(memory, row) }
            }
        })?;
        Ok(rows)
    }

    fn act(&mut self, threads: usize) -> Result<Vec<i64>> {
        let mut actions = vec![0; self.memories.len()];
        let (policy, n_actions) = (&self.policy, self.policy.n_actions());
        let streams = self.rngs.chunks_mut(BLOCK).zip(actions.chunks_mut(BLOCK));
        let blocks: Vec<_> = self.memories.chunks(BLOCK).zip(streams).collect();
        for_each(threads, blocks, |(memories, (rngs, actions))| {
            let mut probs = vec![0.0; n_actions];
            for ((memory, rng), action) in memories.iter().zip(rngs).zip(actions) {
                *action = policy.act(memory, 0.0, &mut probs, rng).0 as i64;
            }
        })?;
        Ok(actions)
    }

    fn update(&mut self, actions: &[i64], seen: &AllSeen, threads: usize) -> Result<()> {
        self.check_length("actions", actions.len())?;
        self.check_seen("observations", "observation", seen)?;
        check_below("action", actions, self.policy.n_actions())?;
        let policy = &self.policy;
        let blocks: Vec<_> = self.memories.chunks_mut(BLOCK).zip(actions.chunks(BLOCK)).enumerate().collect();
        for_each(threads, blocks, |(block, (memories, actions))| {
            for (place, (memory, &action)) in memories.iter_mut().zip(actions).enumerate() {
                policy.take_in(memory, action as usize, seen.of(block * BLOCK + place));
            }
        })
    }

    fn reset(&mut self, starts: &[bool], first: Option<&AllSeen>) -> Result<()> {
        self.check_length("starts", starts.len())?;
        if let Some(first) = first {
            self.check_seen("first", "first", first)?;
        }
        let start = self.policy.start();
        for (episode, memory) in self.memories.iter_mut().enumerate().filter(|(episode, _)| starts[*episode])
        {
            memory.clone_from(&start);
            if let Some(first) = first {
                self.policy.take_in(memory, self.policy.n_actions(), first.of(episode));
            }
        }
        Ok(())
    }
}
