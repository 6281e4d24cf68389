//! What is remembered in episodes that somebody else played.

use crate::error::Result;
use crate::parallel::{Ticker, fill_blocks};
use crate::simulate::policy::{Policy, Seen};
use crate::trajectories::{Columns, View};

/// Episodes a thread takes at a time.
const BLOCK: usize = 64;

/// One row of `width` numbers before every step, and after the last one too if `ends`, of what is remembered there.
///
/// The memory takes in the logged actions and observations, not those that a policy would have chosen.
#[allow(clippy::too_many_arguments)]
fn rows<M, T: Copy + Default + Send>(
    view: &View,
    columns: Option<&Columns>,
    ends: bool,
    block: usize,
    width: usize,
    threads: usize,
    ticker: &Ticker,
    start: impl Fn() -> M + Sync,
    update: impl Fn(&mut M, usize, Seen) + Sync,
    write: impl Fn(&M, &mut [T]) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let place = |episode: usize| (view.offset(episode) + usize::from(ends) * episode) * width;
    let mut out = vec![T::default(); place(view.n_episodes())];
    fill_blocks(threads, view.n_episodes(), block, ticker, &mut out, place, |episodes, rows| {
        let mut rows = rows.chunks_exact_mut(width);
        for episode in episodes {
            let mut memory = start();
            if let Some(first) = view.first(episode) {
                let shown = columns.and_then(|columns| columns.first_row(episode));
                update(&mut memory, view.n_actions, shown.map_or(Seen::Code(first), Seen::Row));
            }
            let steps = view.episode(episode);
            let last = steps.end - 1;
            for step in steps {
                write(&memory, rows.next().expect("a row per step"))?;
                if ends || step < last {
                    let row = columns.map(|columns| Seen::Row(columns.row(step)));
                    let seen = row.unwrap_or(Seen::Code(view.observations[step] as usize));
                    update(&mut memory, view.actions[step] as usize, seen);
                }
            }
            if ends {
                write(&memory, rows.next().expect("a row per cut"))?;
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// A row at every cut of every episode, from before its first step to after its last: (steps + episodes, width).
pub fn at_cuts<M, T: Copy + Default + Send>(
    view: &View,
    width: usize,
    threads: usize,
    ticker: &Ticker,
    start: impl Fn() -> M + Sync,
    update: impl Fn(&mut M, usize, usize) + Sync,
    write: impl Fn(&M, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let write = |memory: &M, row: &mut [T]| {
        write(memory, row);
        Ok(())
    };
    let update = |memory: &mut M, action, seen: Seen| {
        if let Seen::Code(observation) = seen {
            update(memory, action, observation);
        }
    };
    rows(view, None, true, BLOCK, width, threads, ticker, start, update, write)
}

/// π(a | h), or what every action is worth, before every step of the data: (steps, actions).
pub fn before_steps<P: Policy>(
    policy: &P,
    view: &View,
    columns: Option<&Columns>,
    values: bool,
    threads: usize,
    ticker: &Ticker,
) -> Result<Vec<f64>> {
    let block = if P::DELIBERATES { 1 } else { BLOCK };
    // Columns of other data than it was made for are no use to a policy.
    let wanted = policy.column_sizes().map(<[i64]>::len);
    let columns = columns.filter(|columns| wanted == Some(columns.width));
    if let Some(columns) = columns {
        columns.check(view)?;
    }
    let update = |memory: &mut P::Memory, action, seen: Seen| policy.take_in(memory, action, seen);
    let write = |memory: &P::Memory, row: &mut [f64]| {
        if P::DELIBERATES {
            ticker.check()?;
        }
        if values {
            policy.q_values(memory, row);
        } else {
            policy.action_probs(memory, row);
        }
        Ok(())
    };
    rows(view, columns, false, block, view.n_actions, threads, ticker, || policy.start(), update, write)
}
