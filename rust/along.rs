//! Sums along episodes: the loops under returns, traces and advantages.

use std::ops::{AddAssign, Mul};

/// In place, within every episode: rows[t] += factor(t) · rows[t + 1], from the last step to the first.
pub fn discounted_backward<T: Copy + AddAssign + Mul<Output = T>>(
    rows: &mut [T],
    width: usize,
    offsets: &[i64],
    factor: impl Fn(usize) -> T,
) {
    for ends in offsets.windows(2) {
        let episode = &mut rows[ends[0] as usize * width..ends[1] as usize * width];
        for step in (1..episode.len() / width).rev() {
            let (before, after) = episode.split_at_mut(step * width);
            let factor = factor(ends[0] as usize + step - 1);
            add_scaled(&mut before[(step - 1) * width..], &after[..width], factor);
        }
    }
}

/// In place, within every episode: rows[t] += factor(t) · rows[t − 1], from the first step to the last.
pub fn discounted_forward<T: Copy + AddAssign + Mul<Output = T>>(
    rows: &mut [T],
    width: usize,
    offsets: &[i64],
    factor: impl Fn(usize) -> T,
) {
    for ends in offsets.windows(2) {
        let episode = &mut rows[ends[0] as usize * width..ends[1] as usize * width];
        for step in 1..episode.len() / width {
            let (before, after) = episode.split_at_mut(step * width);
            let factor = factor(ends[0] as usize + step);
            add_scaled(&mut after[..width], &before[(step - 1) * width..], factor);
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
        discounted_backward(&mut rows, 2, &offsets, |_| 0.5);
        assert_eq!(rows, [3.0, 30.0, 4.0, 40.0, 4.0, 40.0, 8.0, 80.0]);
        let mut rows = vec![1.0, 2.0, 4.0, 8.0];
        discounted_forward(&mut rows, 1, &offsets, |_| 0.5);
        assert_eq!(rows, [1.0, 2.5, 5.25, 8.0]);
        discounted_backward(&mut rows, 1, &offsets, |step| [2.0, 4.0, 0.0, 0.0][step]);
        assert_eq!(rows, [48.0, 23.5, 5.25, 8.0]);
    }
}
