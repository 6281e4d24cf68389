//! Episodes in parallel: recorded, or only scored.

use crate::error::Result;
use crate::parallel::{Ticker, map_blocks};
use crate::rng::{Rng, mix64};
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::policy::Policy;
use crate::trajectories::Trajectories;

/// How many episodes a thread takes at a time. Small enough for Ctrl-C and for balance between threads,
/// large enough that joining the blocks does not show.
const BLOCK: usize = 256;

/// Which episodes are played, and how.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub(crate) episodes: usize,
    /// Number of the first episode: its random stream is that of the same episode in a rollout that began with 0.
    pub first: usize,
    pub(crate) horizon: usize,
    pub(crate) epsilon: f64,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// The generators of one episode: the world's random stream does not depend on how many numbers the policy draws.
pub fn episode_rngs(seed: u64, episode: usize) -> (Rng, Rng) {
    let stream = 2 * episode as u64;
    (Rng::stream(seed, stream), Rng::stream(seed, stream + 1))
}

/// A third generator of the episode, for policies that think with random numbers; far from the other two.
fn thinking_rng(seed: u64, episode: usize) -> Rng {
    Rng::stream(mix64(seed ^ 0x7468_696e_6b69_6e67), episode as u64)
}

/// How many episodes of this policy a thread takes at a time; the results do not depend on it.
fn block_of<P: Policy>() -> usize {
    if P::DELIBERATES { 1 } else { BLOCK }
}

/// Plays one episode and shows every step to `record(action, probability, outcome)`. Returns what it showed before its
/// first action, and whether the world ended it before the horizon did. The policy does not see the last step: it would
/// think in vain.
#[inline]
fn play<E: Environment, P: Policy>(
    environment: &E,
    policy: &P,
    schedule: &Schedule,
    episode: usize,
    probs: &mut [f64],
    ticker: &Ticker,
    mut record: impl FnMut(usize, f64, Outcome),
) -> Result<(Option<usize>, bool)> {
    let (mut world_rng, mut policy_rng) = episode_rngs(schedule.seed, episode);
    let mut state = environment.start(&mut world_rng);
    let mut memory = policy.start_with(thinking_rng(schedule.seed, episode));
    let first = environment.first_observation(&state, &mut world_rng);
    if let Some(first) = first {
        policy.update(&mut memory, environment.n_actions(), first);
    }
    for step in 1..=schedule.horizon {
        if P::DELIBERATES {
            ticker.check()?;
        }
        let (action, probability) = policy.act(&memory, schedule.epsilon, probs, &mut policy_rng);
        let outcome = environment.step(&mut state, action, &mut world_rng);
        record(action, probability, outcome);
        if outcome.terminated {
            return Ok((first, true));
        }
        if step < schedule.horizon {
            policy.update(&mut memory, action, outcome.observation);
        }
    }
    Ok((first, false))
}

/// Episodes of `policy` in `environment`, recorded with the probability of every action taken.
pub fn rollout<E: Environment, P: Policy>(
    environment: &E,
    policy: &P,
    schedule: &Schedule,
    ticker: &Ticker,
) -> Result<Trajectories> {
    let blocks = map_blocks(schedule.threads, schedule.episodes, block_of::<P>(), ticker, |episodes| {
        let mut probs = vec![0.0; environment.n_actions()];
        let steps = episodes.len() * schedule.horizon.min(128);
        let mut recorded = Trajectories::new(episodes.len(), steps);
        for episode in episodes {
            let (first, terminated) = play(
                environment,
                policy,
                schedule,
                schedule.first + episode,
                &mut probs,
                ticker,
                |action, probability, outcome| {
                    recorded.push_step(action, outcome.observation, outcome.reward, probability);
                },
            )?;
            recorded.end_episode(terminated, first);
        }
        Ok(recorded)
    })?;
    Trajectories::concatenate(schedule.threads, blocks)
}
