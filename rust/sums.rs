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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay_within_their_episode() {
        let offsets = [0, 3, 4];
        let mut rows = vec![1.0, 10.0, 2.0, 20.0, 4.0, 40.0, 8.0, 80.0];
        discounted(&mut rows, 2, &offsets, |_| 0.5, false);
        assert_eq!(rows, [3.0, 30.0, 4.0, 40.0, 4.0, 40.0, 8.0, 80.0]);
        let mut rows = vec![1.0, 2.0, 4.0, 8.0];
        discounted(&mut rows, 1, &offsets, |_| 0.5, true);
        assert_eq!(rows, [1.0, 2.5, 5.25, 8.0]);
        discounted(&mut rows, 1, &offsets, |step| [2.0, 4.0, 0.0, 0.0][step], false);
        assert_eq!(rows, [48.0, 23.5, 5.25, 8.0]);
    }
}
