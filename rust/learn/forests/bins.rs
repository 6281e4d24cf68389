//! Features as numbers of at most 256 bins, column by column.

use crate::error::Result;
use crate::learn::summaries::Summaries;
use crate::parallel::{Ticker, for_each};
use crate::trajectories::{Columns, View};

/// Thresholds are learned from about so many numbers of all features together.
const SAMPLE: usize = 1 << 24;
/// And from so many cuts at most.
const SAMPLE_CUTS: usize = 100_000;

/// What trees are grown on.
pub struct Bins {
    pub(crate) summaries: Summaries,
    /// Of every shared feature and every own one, increasing. The bin of x is the number of thresholds below x.
    pub(crate) thresholds: Vec<Vec<f32>>,
    /// Bins at every cut: shared features, then the own features of action 0, of action 1, …
    columns: Vec<Vec<u8>>,
    pub(crate) n_cuts: usize,
}

impl Bins {
    /// Features of all cuts. Those of floating point are never in memory at once.
    pub fn of(
        summaries: Summaries,
        view: &View,
        columns: &Columns,
        threads: usize,
        ticker: &Ticker,
    ) -> Result<Self> {
        let n_cuts = view.n_steps() + view.n_episodes();
        let (shared, own, actions) = (summaries.n_shared(), summaries.n_own(), summaries.n_actions);
        let width = shared + own;
        let most = (SAMPLE / width.max(1)).clamp(1, SAMPLE_CUTS);
        let stride = n_cuts.div_ceil(most).max(1);
        let sampled = summaries.at_cuts(
            view,
            columns,
            threads,
            ticker,
            |_| Vec::new(),
            |rows, cut, episode, state| {
                if cut % stride == 0 {
                    let begin = rows.len();
                    rows.resize(begin + width, 0.0);
                    summaries.write_shared(state, &mut rows[begin..begin + shared]);
                    summaries.write_own(state, cut / stride % actions, episode, &mut rows[begin + shared..]);
                }
            },
        )?;
        let sampled: Vec<f32> = sampled.concat();
        let mut thresholds: Vec<Vec<f32>> = vec![Vec::new(); width];
        for_each(threads, thresholds.iter_mut().enumerate().collect(), |(feature, thresholds)| {
            *thresholds = cuts_of(sampled.iter().skip(feature).step_by(width).copied().collect());
        })?;
        drop(sampled);
        let all = shared + own * actions;
        let blocks = summaries.at_cuts(
            view,
            columns,
            threads,
            ticker,
            |cuts| (vec![0u8; cuts * all], cuts, 0, vec![0.0; shared.max(own)]),
            |(bins, cuts, row, x), _, episode, state| {
                summaries.write_shared(state, &mut x[..shared]);
                for feature in 0..shared {
                    bins[feature * *cuts + *row] = bin(&thresholds[feature], x[feature]);
                }
                for action in 0..actions {
                    summaries.write_own(state, action, episode, &mut x[..own]);
                    for feature in 0..own {
                        let place = shared + action * own + feature;
                        bins[place * *cuts + *row] = bin(&thresholds[shared + feature], x[feature]);
                    }
                }
                *row += 1;
            },
        )?;
        let mut joined: Vec<Vec<u8>> = vec![Vec::new(); all];
        for_each(threads, joined.iter_mut().enumerate().collect(), |(feature, column)| {
            column.reserve_exact(n_cuts);
            for (bins, cuts, ..) in &blocks {
                column.extend_from_slice(&bins[feature * cuts..(feature + 1) * cuts]);
            }
        })?;
        Ok(Bins { summaries, thresholds, columns: joined, n_cuts })
    }

    /// The shared features.
    pub fn shared(&self) -> Vec<&[u8]> {
        self.columns[..self.summaries.n_shared()].iter().map(Vec::as_slice).collect()
    }

    /// The shared features and those of an action.
    pub fn of_action(&self, action: usize) -> Vec<&[u8]> {
        let (shared, own) = (self.summaries.n_shared(), self.summaries.n_own());
        let mine = self.columns[shared + action * own..shared + (action + 1) * own].iter();
        self.columns[..shared].iter().chain(mine).map(Vec::as_slice).collect()
    }

    /// Own features of the action that was taken, at the cuts before the steps.
    pub fn taken(&self, actions: &[i32], before: &[u32]) -> Vec<Vec<u8>> {
        let (shared, own) = (self.summaries.n_shared(), self.summaries.n_own());
        let column = |feature: usize| {
            let mut column = vec![0; self.n_cuts];
            for (&action, &cut) in actions.iter().zip(before) {
                let bins = &self.columns[shared + action as usize * own + feature];
                column[cut as usize] = bins[cut as usize];
            }
            column
        };
        (0..own).map(column).collect()
    }

    /// How many bins every feature has.
    pub fn counts(&self) -> Vec<usize> {
        self.thresholds.iter().map(|thresholds| thresholds.len() + 1).collect()
    }
}

/// Up to 255 thresholds: between all values where these are few, else such that bins hold as many.
fn cuts_of(mut values: Vec<f32>) -> Vec<f32> {
    values.sort_unstable_by(f32::total_cmp);
    let n = values.len();
    let mut different = values.clone();
    different.dedup();
    let between = |low: f32, high: f32| {
        let middle = (0.5 * (f64::from(low) + f64::from(high))) as f32;
        if middle < high { middle } else { low }
    };
    if different.len() <= 256 {
        return different.windows(2).map(|pair| between(pair[0], pair[1])).collect();
    }
    let mut thresholds: Vec<f32> = (1..256)
        .filter_map(|part| {
            let low = values[part * n / 256 - 1];
            let high = values[values.partition_point(|&value| value <= low)..].first().copied()?;
            Some(between(low, high))
        })
        .collect();
    thresholds.dedup();
    thresholds
}

#[inline]
fn bin(thresholds: &[f32], x: f32) -> u8 {
    thresholds.partition_point(|&threshold| threshold < x) as u8
}
