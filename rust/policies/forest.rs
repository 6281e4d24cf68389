//! Sums of decision trees over feature vectors, and acting on them.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
pub use crate::learn::forests::flat::Forests;
use crate::parallel::{Ticker, map_blocks};
use crate::policies::automaton_policy::AutomatonPolicy;
pub use crate::policies::features::Window;
use crate::policies::features::{Features, Memory};
use crate::policies::{Parted, check_finite, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule, key_of};

/// Where the roots and the nodes of a forest lie.
pub type Span = (Range<usize>, Range<usize>);

/// Where counts cut `total` entries.
fn cut(name: &'static str, counts: &[i64], total: usize) -> Result<Vec<Range<usize>>> {
    let mut spans = Vec::with_capacity(counts.len());
    let mut first = 0;
    for &count in counts {
        let count = usize::try_from(count).ok().filter(|&count| count <= total - first);
        let remedy = "there are fewer entries than `trees` and `nodes` say";
        let last = first + count.ok_or_else(|| Error::argument(name, total - first, remedy))?;
        spans.push(first..last);
        first = last;
    }
    check_sizes([(name, total - first, 0)])?;
    Ok(spans)
}

impl Forests {
    /// Where the forests of all actions lie. Children must come after their parents, so that no walk goes round in
    /// circles.
    pub fn spans(&self, n_features: usize, n_actions: usize) -> Result<Vec<Span>> {
        let (forests, total) = (self.base.len(), self.feature.len());
        check_sizes([
            ("trees", self.trees.len(), forests),
            ("nodes", self.nodes.len(), forests),
            ("threshold", self.threshold.len(), total),
            ("left", self.left.len(), total),
            ("right", self.right.len(), total),
            ("value", self.value.len(), total),
        ])?;
        check_finite("base", &self.base)?;
        check_finite("value", &self.value)?;
        let roots = cut("roots", &self.trees, self.roots.len())?;
        let spans: Vec<_> = roots.into_iter().zip(cut("feature", &self.nodes, total)?).collect();
        for (roots, nodes) in &spans {
            let count = nodes.len();
            let inside = |child: i64, node: i64| child > node && child < count as i64;
            let sound = nodes.clone().zip(0..).all(|(place, node)| {
                self.feature[place] < 0
                    || (self.feature[place] < n_features as i64
                        && inside(self.left[place], node)
                        && inside(self.right[place], node))
            });
            if !sound || self.roots[roots.clone()].iter().any(|&root| !inside(root, -1)) {
                let remedy = "features in range, children after their parents";
                return Err(Error::argument("forest", format!("{count} nodes"), remedy));
            }
        }
        if spans.len() != n_actions {
            let remedy = format!("expected one per action, {n_actions}");
            return Err(Error::argument("forests", spans.len(), remedy));
        }
        Ok(spans)
    }

    /// The value of one forest, which lies at `span`.
    pub fn evaluate(&self, forest: usize, (roots, nodes): &Span, x: &[f32]) -> f64 {
        let leaf = |&root: &i64| {
            let mut node = nodes.start + root as usize;
            while self.feature[node] >= 0 {
                let goes_left = f64::from(x[self.feature[node] as usize]) <= self.threshold[node];
                node = nodes.start + if goes_left { self.left[node] } else { self.right[node] } as usize;
            }
            self.value[node]
        };
        self.base[forest] + self.roots[roots.clone()].iter().map(leaf).sum::<f64>()
    }
}

/// Acts on one forest per action, over the features of the history.
#[derive(Clone, Debug)]
pub struct ForestPolicy {
    pub(crate) features: Features,
    parts: Parts,
    spans: Vec<Span>,
}

/// What it is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Whose states are the features.
    pub automaton: Option<Arc<AutomatonPolicy>>,
    /// Where there is no automaton: the last steps, which are the features.
    pub window: Window,
    /// One for every action.
    pub forests: Forests,
    pub(crate) rule: Rule,
}

impl Parted for ForestPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let features = Features::new(parts.automaton.clone(), parts.window)?;
        let spans = parts.forests.spans(features.dim(), features.n_actions())?;
        parts.rule.check(spans.len())?;
        Ok(ForestPolicy { features, parts, spans })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl ForestPolicy {
    fn evaluate(&self, forest: usize, x: &[f32]) -> f64 {
        self.parts.forests.evaluate(forest, &self.spans[forest], x)
    }

    /// Values (rows, forests) of feature vectors (rows, n_features).
    pub fn evaluate_all(&self, x: &[f32], threads: usize, ticker: &Ticker) -> Result<Vec<f64>> {
        const BLOCK: usize = 1024;
        let width = self.features.dim();
        let blocks = map_blocks(threads, x.len() / width, BLOCK, ticker, |rows| {
            let rows = &x[rows.start * width..rows.end * width];
            let values = |row| (0..self.spans.len()).map(move |forest| self.evaluate(forest, row));
            Ok(rows.chunks_exact(width).flat_map(values).collect::<Vec<f64>>())
        })?;
        Ok(blocks.concat())
    }
}

impl Described for ForestPolicy {
    sizes_and_rule!(self: self.features.n_actions(), self.features.n_observations());

    fn describe(&self) -> String {
        let trees = self.parts.forests.roots.len();
        format!("{trees} trees over {} features", self.features.dim())
    }

    fn key(&self) -> u64 {
        key_of::<Self>(self.features.key())
    }
}

impl Policy for ForestPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        self.features.start()
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let mut x = vec![0.0; self.features.dim()];
        self.features.write(memory, &mut x);
        values.iter_mut().enumerate().for_each(|(forest, value)| *value = self.evaluate(forest, &x));
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        self.features.update(memory, action, observation);
    }
}
