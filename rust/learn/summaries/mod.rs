//! Summaries of the history of raw columns: a state of fixed size that is updated a step at a time.
//!
//! A column is a number or a category. What is kept: the last observations and actions; and, if memory shall be long,
//! what reset showed, the time, decayed counts of values and of (action, value), when and after which action the present
//! value of a column was seen before, how many values were lower and higher, what was seen as long before the last change
//! of another column as that is ago, and what every action brought so far in the column that it touches.
//! `python/uqf/_reference_summaries.py` says the same in NumPy.

mod cuts;
mod features;
mod state;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::error::{Error, Result};

/// Decays of counts of values, of (action, value) and of actions; the first ones forget nothing.
const COUNT_DECAYS: [f32; 3] = [1.0, 0.9, 0.5];
const PAIR_DECAYS: [f32; 2] = [1.0, 0.9];
/// Decays of running means of numbers.
const MEAN_DECAYS: [f32; 2] = [0.9, 0.5];

/// Categories of up to so many values are counted.
const MAX_VALUES: usize = 32;
/// Values of all counted columns together, at most.
const MAX_COUNTED: usize = 256;
/// Pairs of action and value, of a column and of all columns, at most.
const MAX_PAIRS: usize = 32;
const MAX_ALL_PAIRS: usize = 128;
/// Pairs of columns of which one is looked up in the other, at most.
const MAX_RELATIONS: usize = 16;
/// Columns that are mirrored in the changes of each other, at most, and for how many steps.
const MAX_MIRRORED: usize = 4;
const MIRROR_STEPS: usize = 128;
/// With more actions, none of them has numbers of its own.
const MAX_ACTIONS: usize = 256;
/// Numbers about each action.
const OWN: usize = 9;
/// Longer memories and wider observations are slips of the finger.
const MAX_STEPS: usize = 1_000;
const MAX_COLUMNS: usize = 10_000;

/// What is summarised, and where it stands in a state.
#[derive(Clone, Debug)]
pub struct Summaries {
    /// Of every column, the number of its values; 0 is a number.
    pub(crate) sizes: Vec<usize>,
    pub(crate) n_actions: usize,
    /// Of every action, the column in which its effect is looked for.
    touched: Vec<usize>,
    /// What is expected of every action: a constant, and a weight for every (action, value that it brought last).
    expected: Expected,
    /// How many of the last observations and actions are kept.
    pub(crate) steps: usize,
    /// Whether the rest of the history is summarised as well.
    pub(crate) long: bool,
    numbers: Vec<usize>,
    counted: Vec<usize>,
    /// Places in `counted`.
    paired: Vec<usize>,
    /// (looked up in, looked up), places in `counted`.
    relations: Vec<(usize, usize)>,
    /// Columns whose past is kept, each mirrored in the changes of the others.
    mirrored: Vec<usize>,
    places: Places,
}

/// Weights (sets · n_actions, 1 + n_actions · values), row by row; the episodes take the sets in turn. Nothing is expected
/// if there are none.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub(crate) weights: Vec<f32>,
    pub(crate) width: usize,
}

/// Where the parts of a state begin.
#[derive(Clone, Debug, Default)]
struct Places {
    last: usize,
    actions: usize,
    first: usize,
    means: usize,
    /// By counted column.
    counts: Vec<usize>,
    seen: Vec<usize>,
    done: Vec<usize>,
    /// By paired column.
    pairs: Vec<usize>,
    /// By relation.
    recalled: usize,
    /// By mirrored column: when it changed, and its past.
    changed: usize,
    past: usize,
    tries: usize,
    when: usize,
    sums: usize,
    brought: usize,
    length: usize,
}

impl Summaries {
    /// Refuses sizes that no data have.
    pub fn new(
        sizes: Vec<usize>,
        touched: Vec<usize>,
        expected: Expected,
        steps: usize,
        long: bool,
    ) -> Result<Self> {
        let n_actions = touched.len();
        if sizes.is_empty() || sizes.len() > MAX_COLUMNS {
            let remedy = format!("give 1 to {MAX_COLUMNS} columns");
            return Err(Error::argument("sizes", format!("{} columns", sizes.len()), remedy));
        }
        if n_actions == 0 {
            return Err(Error::argument("touched", "no action", "give at least one"));
        }
        if let Some(column) = touched.iter().find(|&&column| column >= sizes.len()) {
            return Err(Error::argument("touched", column, format!("there are {} columns", sizes.len())));
        }
        let rows = expected.weights.len().checked_div(expected.width).unwrap_or(0);
        let values = expected.width.saturating_sub(1);
        if !rows.is_multiple_of(n_actions) || !values.is_multiple_of(n_actions) || (rows > 0 && values == 0) {
            let remedy = "give a row for every action: a constant, and as many weights for each action";
            return Err(Error::argument("expected", format!("{rows} × {}", expected.width), remedy));
        }
        if !(1..=MAX_STEPS).contains(&steps) {
            return Err(Error::argument("steps", steps, format!("give 1 to {MAX_STEPS}")));
        }
        let numbers = (0..sizes.len()).filter(|&column| sizes[column] == 0).collect();
        let counted = within(0..sizes.len(), |column| sizes[column], MAX_VALUES, MAX_COUNTED);
        let cells = |place: usize| n_actions.saturating_mul(sizes[counted[place]]);
        let paired = within(0..counted.len(), cells, MAX_PAIRS, MAX_ALL_PAIRS);
        let relations = relations(&counted, &sizes);
        let mirrored = counted.iter().copied().take(MAX_MIRRORED).collect::<Vec<_>>();
        let mirrored = if mirrored.len() > 1 { mirrored } else { Vec::new() };
        let mut summaries = Summaries {
            sizes,
            n_actions,
            touched,
            expected,
            steps,
            long,
            numbers,
            counted,
            paired,
            relations,
            mirrored,
            places: Places::default(),
        };
        summaries.places = summaries.placed();
        Ok(summaries)
    }

    fn placed(&self) -> Places {
        let width = self.sizes.len();
        // The time comes first.
        let mut length = 1;
        let mut next = |size: usize| {
            length += size;
            length - size
        };
        let mut places =
            Places { last: next(self.steps * width), actions: next(self.steps), ..Places::default() };
        if self.long {
            places.first = next(width);
            places.means = next(MEAN_DECAYS.len() * self.numbers.len());
            for &column in &self.counted {
                places.counts.push(next(COUNT_DECAYS.len() * self.sizes[column]));
                places.seen.push(next(self.sizes[column]));
                places.done.push(next(self.sizes[column]));
            }
            for &place in &self.paired {
                places.pairs.push(next(PAIR_DECAYS.len() * self.n_actions * self.sizes[self.counted[place]]));
            }
            places.recalled = next(3 * self.relations.len());
            places.changed = next(self.mirrored.len());
            places.past = next(MIRROR_STEPS * self.mirrored.len());
            if self.has_own() {
                places.tries = next(PAIR_DECAYS.len() * self.n_actions);
                places.when = next(self.n_actions);
                places.sums = next(self.n_actions);
                places.brought = next(self.n_actions);
            }
        }
        places.length = length;
        places
    }

    /// Whether anything is kept of each action.
    fn has_own(&self) -> bool {
        self.long && self.n_actions <= MAX_ACTIONS
    }

    /// Numbers of an observation.
    pub fn n_columns(&self) -> usize {
        self.sizes.len()
    }

    /// Numbers of a state.
    pub fn n_state(&self) -> usize {
        self.places.length
    }
}

/// The places, in order, whose size is from 1 to `most`, as long as `all` of them suffices.
fn within(places: Range<usize>, size: impl Fn(usize) -> usize, most: usize, all: usize) -> Vec<usize> {
    let mut left = all;
    let fits = |&place: &usize| {
        let fits = (1..=most.min(left)).contains(&size(place));
        left -= if fits { size(place) } else { 0 };
        fits
    };
    places.filter(fits).collect()
}

/// Pairs of counted columns of one size, each with itself first, then with its neighbours.
fn relations(counted: &[usize], sizes: &[usize]) -> Vec<(usize, usize)> {
    let n = counted.len();
    let same = |&(i, j): &(usize, usize)| sizes[counted[i]] == sizes[counted[j]];
    let pairs = (0..n).flat_map(|distance| {
        (0..n - distance).flat_map(move |i| {
            let j = i + distance;
            if distance == 0 { vec![(i, j)] } else { vec![(i, j), (j, i)] }
        })
    });
    pairs.filter(same).take(MAX_RELATIONS).collect()
}
