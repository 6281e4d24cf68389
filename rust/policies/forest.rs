//! Sums of decision trees over feature vectors, and acting on them.

use crate::error::{Error, Result};
use crate::parallel::{Ticker, map_blocks};
use crate::policies::features::{Features, Memory};
use crate::policies::{check_finite, check_sizes, check_temperature};
use crate::simulate::policy::Policy;

/// f(x) = base + weights · x + the sum over all trees of the leaf that x falls into. Averages of trees, boosted
/// trees and linear functions all have this form.
///
/// Trees are flattened one after another. A node goes `left` if x[feature] ≤ threshold; a negative feature marks
/// a leaf. Features are compared as `f32`, the precision that trees are grown in.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    pub base: f64,
    pub weights: Vec<f64>,
    pub roots: Vec<i64>,
    pub feature: Vec<i64>,
    pub threshold: Vec<f64>,
    pub left: Vec<i64>,
    pub right: Vec<i64>,
    pub value: Vec<f64>,
}

impl Forest {
    /// Children must come after their parents, so that no walk goes round in circles.
    pub fn validate(&self, n_features: usize) -> Result<()> {
        let nodes = self.feature.len();
        let sizes = [self.threshold.len(), self.left.len(), self.right.len(), self.value.len()];
        if sizes.iter().any(|&size| size != nodes) || self.weights.len() != n_features {
            let remedy = format!("expected {n_features} weights and node arrays of one length");
            return Err(Error::argument("forest", format!("{sizes:?} nodes"), remedy));
        }
        let inside = |child: i64, node: usize| child > node as i64 && child < nodes as i64;
        let sound = (0..nodes).all(|node| {
            self.feature[node] < 0
                || (self.feature[node] < n_features as i64
                    && inside(self.left[node], node)
                    && inside(self.right[node], node))
        });
        if !sound || self.roots.iter().any(|&root| !(inside(root, 0) || root == 0 && nodes > 0)) {
            let remedy = "features in range, children after their parents";
            return Err(Error::argument("forest", format!("{nodes} nodes"), remedy));
        }
        check_finite("base", &[self.base])?;
        check_finite("weights", &self.weights)?;
        check_finite("value", &self.value)
    }

    pub fn evaluate(&self, x: &[f32]) -> f64 {
        let linear: f64 = self.weights.iter().zip(x).map(|(weight, &x)| weight * f64::from(x)).sum();
        self.base + linear + self.roots.iter().map(|&root| self.leaf(root as usize, x)).sum::<f64>()
    }

    #[inline]
    fn leaf(&self, mut node: usize, x: &[f32]) -> f64 {
        while self.feature[node] >= 0 {
            let goes_left = f64::from(x[self.feature[node] as usize]) <= self.threshold[node];
            node = if goes_left { self.left[node] } else { self.right[node] } as usize;
        }
        self.value[node]
    }
}

/// Several forests, one after the other; roots and children count from the first node of their forest.
pub struct Trees<'a> {
    pub base: &'a [f64],
    /// (forests, features)
    pub weights: &'a [f64],
    /// How many trees and nodes each forest has.
    pub trees: &'a [i64],
    pub nodes: &'a [i64],
    pub roots: &'a [i64],
    pub feature: &'a [i64],
    pub threshold: &'a [f64],
    pub left: &'a [i64],
    pub right: &'a [i64],
    pub value: &'a [f64],
}

/// Takes so many entries off the front.
fn take<T: Copy>(name: &'static str, rest: &mut &[T], count: i64) -> Result<Vec<T>> {
    let count = usize::try_from(count).ok().filter(|&count| count <= rest.len());
    let remedy = "there are fewer entries than `trees` and `nodes` say";
    let (first, others) = rest.split_at(count.ok_or_else(|| Error::argument(name, rest.len(), remedy))?);
    *rest = others;
    Ok(first.to_vec())
}

impl Trees<'_> {
    /// The single forests.
    pub fn cut(mut self, n_features: usize) -> Result<Vec<Forest>> {
        let forests = self.base.len();
        check_sizes([
            ("trees", self.trees.len(), forests),
            ("nodes", self.nodes.len(), forests),
            ("weights", self.weights.len(), forests.saturating_mul(n_features)),
        ])?;
        let mut cut = Vec::with_capacity(forests);
        for ((&base, &trees), &nodes) in self.base.iter().zip(self.trees).zip(self.nodes) {
            cut.push(Forest {
                base,
                weights: take("weights", &mut self.weights, n_features as i64)?,
                roots: take("roots", &mut self.roots, trees)?,
                feature: take("feature", &mut self.feature, nodes)?,
                threshold: take("threshold", &mut self.threshold, nodes)?,
                left: take("left", &mut self.left, nodes)?,
                right: take("right", &mut self.right, nodes)?,
                value: take("value", &mut self.value, nodes)?,
            });
        }
        check_sizes([
            ("roots", self.roots.len(), 0),
            ("feature", self.feature.len(), 0),
            ("value", self.value.len(), 0),
        ])?;
        Ok(cut)
    }
}

/// Values (rows, forests) of feature vectors (rows, n_features).
pub fn evaluate_all(
    forests: &[Forest],
    x: &[f32],
    n_features: usize,
    threads: usize,
    ticker: &Ticker,
) -> Result<Vec<f64>> {
    const BLOCK: usize = 1024;
    let blocks = map_blocks(threads, x.len() / n_features, BLOCK, ticker, |rows| {
        let rows = &x[rows.start * n_features..rows.end * n_features];
        let values = |row| forests.iter().map(move |forest: &Forest| forest.evaluate(row));
        Ok(rows.chunks_exact(n_features).flat_map(values).collect::<Vec<f64>>())
    })?;
    Ok(blocks.concat())
}

/// Acts on one forest per action, over the features of the history.
#[derive(Clone, Debug)]
pub struct ForestPolicy {
    pub features: Features,
    pub forests: Vec<Forest>,
    pub temperature: f64,
}

impl ForestPolicy {
    pub fn validate(&self) -> Result<()> {
        self.features.validate()?;
        if self.forests.len() != self.features.n_actions() {
            let remedy = format!("expected one per action, {}", self.features.n_actions());
            return Err(Error::argument("forests", self.forests.len(), remedy));
        }
        check_temperature(self.temperature)?;
        self.forests.iter().try_for_each(|forest| forest.validate(self.features.dim()))
    }
}

impl Policy for ForestPolicy {
    type Memory = Memory;

    fn n_actions(&self) -> usize {
        self.features.n_actions()
    }

    fn n_observations(&self) -> usize {
        self.features.n_observations()
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }

    fn describe(&self) -> String {
        let trees: usize = self.forests.iter().map(|forest| forest.roots.len()).sum();
        format!("{trees} trees over {} features", self.features.dim())
    }

    fn start(&self) -> Memory {
        self.features.start()
    }

    fn knows(&self, memory: &Memory) -> bool {
        self.features.fits(memory)
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let mut x = vec![0.0; self.features.dim()];
        self.features.write(memory, &mut x);
        values.iter_mut().zip(self.forests.iter()).for_each(|(value, forest)| *value = forest.evaluate(&x));
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        self.features.update(memory, action, observation);
    }
}
