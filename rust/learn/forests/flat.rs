//! Forests as flat arrays, the form in which policies keep them.

use crate::learn::forests::bins::Bins;
use crate::learn::forests::fitted::{FOLDS, Fitted};

/// Several functions f(x) = base + the sum over all trees of the leaf that x falls into.
///
/// The arrays of all forests lie one after another; roots and children count from the first node of their forest. A
/// node goes `left` if x[feature] ≤ threshold; a negative feature marks a leaf. Features are compared as `f32`, the
/// precision that trees are grown in.
#[derive(Clone, Debug, Default)]
pub struct Forests {
    pub(crate) base: Vec<f64>,
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

impl Fitted {
    /// Mean advantages of both folds: the trees of every action, or the pooled ones, of both.
    pub fn forests(&self, bins: &Bins) -> Forests {
        let (mut flat, share) = (Forests::default(), 1.0 / FOLDS as f64);
        for forest in 0..self.advantages[0].len() {
            let first = flat.feature.len();
            let (mut base, mut count) = (0.0, 0);
            for advantage in self.advantages.iter().map(|fold| &fold[forest]) {
                if advantage.trees.is_empty() {
                    base += share * f64::from(advantage.constant);
                }
                for (tree, values) in advantage.trees.iter().zip(&advantage.values) {
                    let root = flat.feature.len() - first;
                    flat.roots.push(root as i64);
                    count += 1;
                    for node in 0..tree.feature.len() {
                        let leaf = tree.feature[node] < 0;
                        let threshold = if leaf {
                            0.0
                        } else {
                            bins.thresholds[tree.feature[node] as usize][tree.bin[node] as usize]
                        };
                        let value =
                            if leaf { share * f64::from(values[tree.bin[node] as usize]) } else { 0.0 };
                        flat.feature.push(i64::from(tree.feature[node]));
                        flat.threshold.push(f64::from(threshold));
                        flat.left.push((root + tree.left[node] as usize) as i64);
                        flat.right.push((root + tree.right[node] as usize) as i64);
                        flat.value.push(value);
                    }
                }
            }
            flat.base.push(base);
            flat.trees.push(count);
            flat.nodes.push((flat.feature.len() - first) as i64);
        }
        flat
    }
}
