//! Which episodes are drawn when not all can be used.

use std::collections::HashMap;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::trajectories::View;

impl View<'_> {
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
}
