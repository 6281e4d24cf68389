//! What a policy would have done along episodes that somebody else played.

use crate::error::Result;
use crate::parallel::{Ticker, map_blocks};
use crate::simulate::policy::Policy;
use crate::trajectories::View;

/// π(a | h) of every action before every step of the data: (steps, actions), row-major.
///
/// The policy remembers the logged actions and observations, not those that it would have chosen.
pub fn action_probabilities<P: Policy>(
    policy: &P,
    view: &View,
    threads: usize,
    ticker: &Ticker,
) -> Result<Vec<f64>> {
    let block = if P::DELIBERATES { 1 } else { 64 };
    let blocks = map_blocks(threads, view.n_episodes(), block, ticker, |episodes| {
        let mut rows = Vec::new();
        let mut probs = vec![0.0; view.n_actions];
        for episode in episodes {
            let mut memory = policy.start();
            let steps = view.episode(episode);
            let last = steps.end - 1;
            for step in steps {
                if P::DELIBERATES {
                    ticker.check()?;
                }
                policy.action_probs(&memory, &mut probs);
                rows.extend_from_slice(&probs);
                if step < last {
                    policy.update(&mut memory, view.actions[step] as usize, view.observations[step] as usize);
                }
            }
        }
        Ok(rows)
    })?;
    Ok(blocks.concat())
}
