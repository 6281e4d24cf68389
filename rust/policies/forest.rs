//! Sums of decision trees over feature vectors, and acting on them.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::parallel::{Ticker, map_blocks};
use crate::policies::array::Array;
use crate::policies::automaton_policy::AutomatonPolicy;
pub use crate::policies::features::Window;
use crate::policies::features::{Features, Memory};
use crate::policies::{Parted, check_finite, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule};

/// Several functions f(x) = base + weights · x + the sum over all trees of the leaf that x falls into. Averages of
/// trees, boosted trees and linear functions all have this form.
///
/// The arrays of all forests lie one after another; roots and children count from the first node of their forest. A
/// node goes `left` if x[feature] ≤ threshold; a negative feature marks a leaf. Features are compared as `f32`, the
/// precision that trees are grown in.
#[derive(Clone, Debug)]
pub struct Forests {
    pub(crate) base: Vec<f64>,
    /// (forests, features)
    pub(crate) weights: Array<f64, 2>,
    /// How many trees and nodes each forest has.
    pub(crate) trees: Vec<i64>,
    pub(crate) nodes: Vec<i64>,
    pub(crate) roots: Vec<i64>,
    pub(crate) feature: Vec<i64>,
    pub(crate) threshold: Vec<f64>,
    pub(crate) left: Vec<i64>,
    pub(crate) right: Vec<i64>,
    pub(crate) value: Vec<f64>,
}

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
    /// Where the roots and the nodes of every forest lie. Children must come after their parents, so that no walk goes
    /// round in circles.
    fn spans(&self, n_features: usize) -> Result<Vec<(Range<usize>, Range<usize>)>> {
        let (forests, total) = (self.base.len(), self.feature.len());
        check_sizes([
            ("trees", self.trees.len(), forests),
            ("nodes", self.nodes.len(), forests),
            ("weights", self.weights.len(), forests.saturating_mul(n_features)),
            ("threshold", self.threshold.len(), total),
            ("left", self.left.len(), total),
            ("right", self.right.len(), total),
            ("value", self.value.len(), total),
        ])?;
        for (name, numbers) in [("base", &self.base[..]), ("weights", &self.weights), ("value", &self.value)]
        {
            check_finite(name, numbers)?;
        }
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
        Ok(spans)
    }
}

/// Acts on one forest per action, over the features of the history.
#[derive(Clone, Debug)]
pub struct ForestPolicy {
    pub(crate) features: Features,
    parts: Parts,
    /// Roots and nodes of every forest.
    spans: Vec<(Range<usize>, Range<usize>)>,
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
        let spans = parts.forests.spans(features.dim())?;
        if spans.len() != features.n_actions() {
            let remedy = format!("expected one per action, {}", features.n_actions());
            return Err(Error::argument("forests", spans.len(), remedy));
        }
        parts.rule.check(spans.len())?;
        Ok(ForestPolicy { features, parts, spans })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl ForestPolicy {
    /// The value of one forest.
    fn evaluate(&self, forest: usize, x: &[f32]) -> f64 {
        let (all, (roots, nodes)) = (&self.parts.forests, &self.spans[forest]);
        let linear: f64 =
            all.weights.row(forest).iter().zip(x).map(|(weight, &x)| weight * f64::from(x)).sum();
        let leaf = |&root: &i64| {
            let mut node = nodes.start + root as usize;
            while all.feature[node] >= 0 {
                let goes_left = f64::from(x[all.feature[node] as usize]) <= all.threshold[node];
                node = nodes.start + if goes_left { all.left[node] } else { all.right[node] } as usize;
            }
            all.value[node]
        };
        all.base[forest] + linear + all.roots[roots.clone()].iter().map(leaf).sum::<f64>()
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
}

impl Policy for ForestPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        self.features.start()
    }

    fn knows(&self, memory: &Memory) -> bool {
        self.features.fits(memory)
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
