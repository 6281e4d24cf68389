//! Sums within episodes: the loops under returns, traces and advantages.

use std::ops::{AddAssign, Mul};

/// In place, within every episode: rows[t] += factor(t) · rows[t + 1], from the last step to the first; or `forward`,
/// rows[t] += factor(t) · rows[t − 1] from the first to the last.
pub fn discounted<T: Copy + AddAssign + Mul<Output = T>>(
    rows: &mut [T],
    width: usize,
    offsets: &[i64],
    factor: impl Fn(usize) -> T,
    forward: bool,
) {
    for ends in offsets.windows(2) {
        let (first, episode) =
            (ends[0] as usize, &mut rows[ends[0] as usize * width..ends[1] as usize * width]);
        let steps = episode.len() / width;
        for step in 1..steps {
            let later = if forward { step } else { steps - step };
            let (before, after) = episode.split_at_mut(later * width);
            let (before, after) = (&mut before[(later - 1) * width..], &mut after[..width]);
            match forward {
                true => add_scaled(after, before, factor(first + later)),
                false => add_scaled(before, after, factor(first + later - 1)),
            }
        }
    }
}

#[inline(always)]
fn add_scaled<T: Copy + AddAssign + Mul<Output = T>>(sums: &mut [T], terms: &[T], factor: T) {
    sums.iter_mut().zip(terms).for_each(|(sum, &term)| *sum += factor * term);
}
