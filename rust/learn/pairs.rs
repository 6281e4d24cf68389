//! A yardstick: the least that any accumulation over pairs of words must do.

use crate::trajectories::View;

/// Odd, with bits well spread: multiplying by it moves every bit of a word's key to the top.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Reads the symbols and increments one counter for every (prefix, suffix) pair at every cut, in a table of
/// (dim, dim) counters. Words find their rows and columns by one multiplication a symbol. No targets, no exact
/// sums, no good hash: nobody can learn from it, but nothing that learns can be much faster.
#[expect(clippy::needless_range_loop, reason = "the plain loops are faster")]
pub fn count_pairs(view: &View, max_prefix: usize, max_suffix: usize, dim: usize) -> Vec<u64> {
    let mut counts = vec![0; dim * dim];
    let (mut rows, mut columns) = (vec![0; max_prefix + 1], vec![0; max_suffix + 1]);
    let place = |key: u64| ((u128::from(key) * dim as u128) >> 64) as usize;
    for episode in 0..view.n_episodes() {
        let steps = view.episode(episode);
        for cut in steps.start..=steps.end {
            let (prefixes, suffixes) = (max_prefix.min(cut - steps.start), max_suffix.min(steps.end - cut));
            let mut key = 0u64;
            for length in 1..=prefixes {
                key = (key ^ (view.symbol(cut - length) as u64 + 1)).wrapping_mul(SPREAD);
                rows[length] = place(key) * dim;
            }
            key = 0;
            for length in 1..=suffixes {
                key = (key ^ (view.symbol(cut + length - 1) as u64 + 1)).wrapping_mul(SPREAD);
                columns[length] = place(key);
            }
            for &row in &rows[..=prefixes] {
                let counts = &mut counts[row..row + dim];
                columns[..=suffixes].iter().for_each(|&column| counts[column] += 1);
            }
        }
    }
    counts
}
