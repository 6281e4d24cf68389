//! How the states of a model are shared out: which observations have clones of their own, and which actions a
//! transition matrix.

use std::cmp::Reverse;

use crate::trajectories::View;

/// An observation seen less often than this shares its clones with the other rare ones, and a rare action its
/// transitions: there is nothing to learn about them one by one.
const MIN_COUNT: usize = 5;

/// At most so many observations have clones of their own, and all transition matrices have at most so many cells.
const MAX_CODES: usize = 400;
const MAX_CELLS: usize = 1 << 22;

/// The sizes of a model and what its numbers mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub(crate) n_states: usize,
    /// Clones of an observation: first and last + 1 of its states. All states if nothing is known of it. Noisy models
    /// have them when they begin.
    pub ranges: Vec<(u32, u32)>,
    /// In noisy models, where a state may show anything: the code of every observation, and in `n_shown` their number and
    /// one more, which stands for nothing known. Elsewhere all are 0 and `n_shown` is 1.
    pub codes: Vec<u32>,
    pub(crate) n_shown: usize,
    /// Which transition matrix an action has.
    pub kinds: Vec<u32>,
    pub(crate) n_kinds: usize,
    pub(crate) n_events: usize,
    pub(crate) n_tasks: usize,
    /// Whether episodes show an observation before the first action.
    pub opens: bool,
    /// Observations and actions that share what they have with others.
    pub shared: (usize, usize),
}

/// Numbers those that were seen often 0, 1, 2, … and all that were seen seldom with one more; None for what was never
/// seen. Also says how many there are and how many share the last one.
fn grouped(counts: &[usize], max_own: usize) -> (Vec<Option<u32>>, usize, usize) {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > 0).collect();
    order.sort_by_key(|&i| Reverse(counts[i]));
    let often = order.iter().take_while(|&&i| counts[i] >= MIN_COUNT).count().min(max_own);
    // A single rare one might as well have its own.
    let own = if order.len() - often <= 1 && order.len() <= max_own { order.len() } else { often };
    let mut is_own = vec![false; counts.len()];
    order[..own].iter().for_each(|&i| is_own[i] = true);
    let mut next = 0;
    let mut numbers: Vec<Option<u32>> = vec![None; counts.len()];
    for (number, own) in numbers.iter_mut().zip(&is_own) {
        if *own {
            *number = Some(next);
            next += 1;
        }
    }
    let shared = order.len() - own;
    if shared > 0 {
        // What was never seen is as rare as what was hardly seen.
        numbers.iter_mut().filter(|number| number.is_none()).for_each(|number| *number = Some(next));
        next += 1;
    }
    (numbers, next as usize, shared)
}

impl Layout {
    /// About `states` states for this data, shared out among the observations by their frequency, at least one each.
    pub fn of(view: &View, states: usize, n_events: usize, n_tasks: usize, noisy: bool) -> Self {
        let (mut seen, mut taken) = (vec![0; view.n_observations], vec![0; view.n_actions]);
        let first = view.first_observations.unwrap_or_default();
        view.observations.iter().chain(first).for_each(|&o| seen[o as usize] += 1);
        view.actions.iter().for_each(|&a| taken[a as usize] += 1);
        let (codes, n_codes, shared_codes) = grouped(&seen, MAX_CODES);
        let mut counts = vec![0; n_codes];
        codes.iter().zip(&seen).for_each(|(code, count)| {
            if let Some(code) = code {
                counts[*code as usize] += count;
            }
        });
        let total = view.n_steps() + first.len();
        let mut ends = Vec::with_capacity(n_codes);
        let mut from = 0u32;
        for &count in &counts {
            let share = (states as f64 * count as f64 / total as f64).round() as u32;
            ends.push((from, from + share.max(1)));
            from += share.max(1);
        }
        let n_states = from as usize;
        let max_kinds = (MAX_CELLS / (n_states * n_states)).max(2) - 1;
        let (kinds, n_kinds, shared_kinds) = grouped(&taken, max_kinds);
        Layout {
            n_states,
            ranges: codes.iter().map(|code| code.map_or((0, from), |code| ends[code as usize])).collect(),
            n_shown: if noisy { n_codes + 1 } else { 1 },
            codes: codes.iter().map(|code| if noisy { code.unwrap_or(n_codes as u32) } else { 0 }).collect(),
            // An action that was never taken moves like the first; nothing is known of it.
            kinds: kinds.iter().map(|kind| kind.unwrap_or(0)).collect(),
            n_kinds,
            n_events,
            n_tasks,
            opens: view.first_observations.is_some(),
            shared: (shared_codes, shared_kinds),
        }
    }

    /// First and last + 1 of the states that may show an observation.
    pub(crate) fn range(&self, observation: usize) -> (usize, usize) {
        let (low, high) = if self.noisy() { (0, self.n_states as u32) } else { self.ranges[observation] };
        (low as usize, high as usize)
    }

    /// Whether a state may show anything.
    pub fn noisy(&self) -> bool {
        self.n_shown > 1
    }

    /// The code that says nothing.
    pub(crate) fn nothing(&self) -> u32 {
        self.n_shown as u32 - 1
    }

    /// Rows of the law of events: what a step pays and whether it ends, and what was shown before it.
    pub fn n_rows(&self) -> usize {
        self.n_events * self.n_shown
    }
}
