//! Summaries at every cut of episodes: before the first step up to after the last.

use crate::error::{Error, Result};
use crate::parallel::{Ticker, map_blocks};
use crate::trajectories::{Columns, View};

use super::Summaries;

/// Episodes that a thread takes at a time.
const BLOCK: usize = 64;

impl Summaries {
    /// Calls `visit(out, cut, episode, state)` at every cut of a block of episodes, with an `out` of its own for every block; what
    /// was made of them, in order. The blocks do not depend on the number of threads.
    pub fn at_cuts<T: Send>(
        &self,
        view: &View,
        columns: &Columns,
        threads: usize,
        ticker: &Ticker,
        make: impl Fn(usize) -> T + Sync,
        visit: impl Fn(&mut T, usize, usize, &[f32]) + Sync,
    ) -> Result<Vec<T>> {
        columns.check(view)?;
        if columns.width != self.n_columns() || view.n_actions != self.n_actions {
            let remedy = format!("expected {} columns, {} actions", self.n_columns(), self.n_actions);
            return Err(Error::argument("columns", columns.width, remedy));
        }
        map_blocks(threads, view.n_episodes(), BLOCK, ticker, |episodes| {
            let cuts = view.offset(episodes.end) - view.offset(episodes.start) + episodes.len();
            let (mut out, mut state) = (make(cuts), self.start());
            for episode in episodes {
                self.begin(&mut state, columns.first_row(episode));
                let steps = view.episode(episode);
                visit(&mut out, steps.start + episode, episode, &state);
                for step in steps {
                    self.update(&mut state, view.actions[step] as usize, columns.row(step));
                    visit(&mut out, step + episode + 1, episode, &state);
                }
            }
            Ok(out)
        })
    }

    /// (shared (cuts, n_shared), own (cuts, n_actions, n_own)), row by row.
    pub fn features(
        &self,
        view: &View,
        columns: &Columns,
        threads: usize,
        ticker: &Ticker,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let (shared, own) = (self.n_shared(), self.n_own());
        let make =
            |cuts| (Vec::with_capacity(cuts * shared), Vec::with_capacity(cuts * own * self.n_actions));
        let blocks =
            self.at_cuts(view, columns, threads, ticker, make, |(all, each), _, episode, state| {
                let (begin, own_begin) = (all.len(), each.len());
                all.resize(begin + shared, 0.0);
                self.write_shared(state, &mut all[begin..]);
                each.resize(own_begin + own * self.n_actions, 0.0);
                for action in 0..self.n_actions {
                    self.write_own(state, action, episode, &mut each[own_begin + action * own..][..own]);
                }
            })?;
        let (all, each): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        Ok((all.concat(), each.concat()))
    }
}
