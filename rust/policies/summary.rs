//! Acting on forests over summaries of the history.

use crate::error::{Error, Result};
use crate::learn::summaries::{Expected, Summaries};
use crate::policies::array::Array;
pub use crate::policies::forest::Forests;
use crate::policies::forest::Span;
use crate::policies::{Parted, check_finite, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule, key_of};

/// Acts on one forest per action, or on one for all, over summaries of the raw columns, and of what the action brought
/// before.
#[derive(Clone, Debug)]
pub struct SummaryPolicy {
    pub(crate) summaries: Summaries,
    pub(crate) parts: Parts,
    spans: Vec<Span>,
}

/// What it is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Of every raw column the number of its values; 0 is a number.
    pub(crate) sizes: Vec<i64>,
    /// Of every action, the column in which its effect is looked for.
    pub(crate) touched: Vec<i64>,
    /// What is expected of every action, (n_actions, 1 + n_actions · values): a constant, and a weight for every value that
    /// an action brought last.
    pub(crate) expected: Array<f32, 2>,
    /// How many of the last steps are remembered, and whether the rest of the history is summarised.
    pub(crate) steps: usize,
    pub(crate) long: bool,
    /// Of every code the columns that it stands for, where these are not known: (n_observations, columns).
    pub(crate) codes: Array<f32, 2>,
    /// One for every action, or one for all.
    pub(crate) forests: Forests,
    pub(crate) rule: Rule,
}

impl Parted for SummaryPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let size = |&size: &i64| {
            let remedy = "give 0 for a number, or how many values a category has";
            usize::try_from(size).map_err(|_| Error::argument("sizes", size, remedy))
        };
        let sizes: Vec<usize> = parts.sizes.iter().map(size).collect::<Result<_>>()?;
        check_sizes([("codes", parts.codes.shape[1], sizes.len())])?;
        check_finite("codes", &parts.codes)?;
        let column = |&column: &i64| {
            let remedy = "give the number of a column";
            usize::try_from(column).map_err(|_| Error::argument("touched", column, remedy))
        };
        let touched: Vec<usize> = parts.touched.iter().map(column).collect::<Result<_>>()?;
        check_finite("expected", &parts.expected)?;
        let rows = parts.expected.shape[0];
        check_sizes([("expected", rows, if rows == 0 { 0 } else { touched.len() })])?;
        let expected = Expected { weights: parts.expected.entries.clone(), width: parts.expected.shape[1] };
        let summaries = Summaries::new(sizes, touched, expected, parts.steps, parts.long)?;
        let (features, n_actions) = (summaries.n_shared() + summaries.n_own(), summaries.n_actions);
        let pooled = parts.forests.base.len() == 1;
        let spans = parts.forests.spans(features, if pooled { 1 } else { n_actions })?;
        parts.rule.check(n_actions)?;
        Ok(SummaryPolicy { summaries, parts, spans })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl Described for SummaryPolicy {
    sizes_and_rule!(self: self.summaries.n_actions, self.parts.codes.shape[0]);

    fn describe(&self) -> String {
        let (trees, columns) = (self.parts.forests.roots.len(), self.parts.sizes.len());
        let features = self.summaries.n_shared() + self.summaries.n_own();
        format!("{trees} trees over {features} summaries of {columns} columns")
    }

    fn key(&self) -> u64 {
        key_of::<Self>((
            &self.parts.sizes,
            self.summaries.n_actions,
            self.n_observations(),
            self.parts.steps,
            self.parts.long,
        ))
    }
}

impl Policy for SummaryPolicy {
    type Memory = Vec<f32>;

    fn start(&self) -> Vec<f32> {
        self.summaries.start()
    }

    fn q_values(&self, memory: &Vec<f32>, values: &mut [f64]) {
        let shared = self.summaries.n_shared();
        let mut x = vec![0.0; shared + self.summaries.n_own()];
        self.summaries.write_shared(memory, &mut x[..shared]);
        for (action, value) in values.iter_mut().enumerate() {
            self.summaries.write_own(memory, action, 0, &mut x[shared..]);
            let forest = if self.spans.len() == 1 { 0 } else { action };
            *value = self.parts.forests.evaluate(forest, &self.spans[forest], &x);
        }
    }

    fn update(&self, memory: &mut Vec<f32>, action: usize, observation: usize) {
        self.update_row(memory, action, self.parts.codes.row(observation));
    }

    fn column_sizes(&self) -> Option<&[i64]> {
        Some(&self.parts.sizes)
    }

    fn is_code(&self, row: &[f32], observation: usize) -> bool {
        self.parts.codes.row(observation) == row
    }

    fn update_row(&self, memory: &mut Vec<f32>, action: usize, row: &[f32]) {
        if action == self.summaries.n_actions {
            self.summaries.begin(memory, Some(row));
        } else {
            self.summaries.update(memory, action, row);
        }
    }
}
