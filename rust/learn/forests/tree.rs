//! One regression tree, grown on bins: the leaf whose split lowers the squared error most is split next.

use crate::learn::forests::histogram::{ABREAST, Histogram, fill};
use crate::rng::Rng;

/// Features that are drawn for a split at most.
const MAX_TRIED: usize = 64;

/// How trees are grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Leaves at most; 256 or fewer.
    pub(crate) leaves: usize,
    /// Share of the features that are tried at a split.
    pub(crate) features: f64,
    /// Share of the rows that a tree is grown on.
    pub(crate) rows: f64,
}

/// Leaves are numbered; a negative feature marks one. Children come after their parents.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) feature: Vec<i32>,
    /// The last bin that goes left; the number of a leaf.
    pub(crate) bin: Vec<u8>,
    pub(crate) left: Vec<u32>,
    pub(crate) right: Vec<u32>,
    pub(crate) n_leaves: usize,
}

#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    bin: usize,
}

/// A leaf that may be split: its node and its rows.
struct Open {
    node: usize,
    begin: usize,
    end: usize,
    split: Option<Split>,
}

struct Grower<'a> {
    columns: &'a [&'a [u8]],
    bins: &'a [usize],
    smallest: usize,
    /// How many features are drawn for a split, and from where on all are tried.
    tried: usize,
    always: usize,
    rows: Vec<u32>,
    targets: Vec<f32>,
    /// Gains below this are rounding.
    least: f64,
    order: Vec<usize>,
    histograms: [Histogram; ABREAST],
    spare: Vec<(u32, f32)>,
}

impl Tree {
    /// A tree of some rows and their targets; leaves have at least `smallest` of them. The last features, `always` many, are
    /// tried at every split.
    #[allow(clippy::too_many_arguments)]
    pub fn grown(
        columns: &[&[u8]],
        bins: &[usize],
        rows: &[u32],
        targets: &[f32],
        smallest: usize,
        always: usize,
        growth: &Growth,
        mut rng: Rng,
    ) -> Tree {
        let (mut taken, mut wanted) = (Vec::new(), Vec::new());
        for (&row, &target) in rows.iter().zip(targets) {
            if rng.chance(growth.rows) {
                taken.push(row);
                wanted.push(target);
            }
        }
        let total: f64 = wanted.iter().map(|&t| f64::from(t) * f64::from(t)).sum();
        let drawn = columns.len() - always;
        let mut grower = Grower {
            columns,
            bins: &bins[..columns.len()],
            smallest: smallest.max(1),
            tried: ((drawn as f64 * growth.features).ceil() as usize).min(MAX_TRIED),
            always: drawn,
            rows: taken,
            targets: wanted,
            least: 1e-10 * total,
            order: (0..columns.len()).collect(),
            histograms: std::array::from_fn(|_| Histogram::new()),
            spare: Vec::new(),
        };
        grower.grow(growth.leaves.min(256), &mut rng)
    }

    /// The leaf of every row.
    pub fn leaves(&self, columns: &[&[u8]], rows: usize) -> Vec<u8> {
        (0..rows).map(|row| self.leaf(columns, row)).collect()
    }

    /// The leaves of some rows.
    pub fn leaves_at(&self, columns: &[&[u8]], rows: &[u32]) -> Vec<u8> {
        rows.iter().map(|&row| self.leaf(columns, row as usize)).collect()
    }

    #[inline]
    fn leaf(&self, columns: &[&[u8]], row: usize) -> u8 {
        let mut node = 0;
        while self.feature[node] >= 0 {
            let right = columns[self.feature[node] as usize][row] > self.bin[node];
            node = if right { self.right[node] } else { self.left[node] } as usize;
        }
        self.bin[node]
    }
}

impl Grower<'_> {
    fn grow(&mut self, leaves: usize, rng: &mut Rng) -> Tree {
        let mut tree = Tree { feature: vec![-1], bin: vec![0], left: vec![0], right: vec![0], n_leaves: 0 };
        let split = self.best(0, self.rows.len(), rng);
        let mut open = vec![Open { node: 0, begin: 0, end: self.rows.len(), split }];
        while open.len() < leaves {
            // The first of the best.
            let mut best: Option<(usize, Split)> = None;
            for (place, leaf) in open.iter().enumerate() {
                if let Some(split) = leaf.split
                    && best.is_none_or(|(_, other)| split.gain > other.gain)
                {
                    best = Some((place, split));
                }
            }
            let Some((place, split)) = best else { break };
            let (node, begin, end) = (open[place].node, open[place].begin, open[place].end);
            let middle = self.partition(begin, end, split);
            let left = tree.feature.len();
            tree.feature[node] = split.feature as i32;
            tree.bin[node] = split.bin as u8;
            (tree.left[node], tree.right[node]) = (left as u32, left as u32 + 1);
            for _ in 0..2 {
                tree.feature.push(-1);
                tree.bin.push(0);
                tree.left.push(0);
                tree.right.push(0);
            }
            let split = self.best(begin, middle, rng);
            open[place] = Open { node: left, begin, end: middle, split };
            let split = self.best(middle, end, rng);
            open.push(Open { node: left + 1, begin: middle, end, split });
        }
        for (number, leaf) in open.iter().enumerate() {
            tree.bin[leaf.node] = number as u8;
        }
        tree.n_leaves = open.len();
        tree
    }

    /// The split of these rows that lowers the squared error most, among features drawn at random.
    fn best(&mut self, begin: usize, end: usize, rng: &mut Rng) -> Option<Split> {
        if end - begin < 2 * self.smallest {
            return None;
        }
        for place in 0..self.tried {
            let other = place + rng.below(self.always - place);
            self.order.swap(place, other);
        }
        let (rows, targets) = (&self.rows[begin..end], &self.targets[begin..end]);
        let (all, count) = (targets.iter().map(|&t| f64::from(t)).sum::<f64>(), rows.len());
        let before = all * all / count as f64;
        let drawn = self.order[..self.tried].iter().chain(&self.order[self.always..]);
        let features: Vec<usize> = drawn.copied().filter(|&feature| self.bins[feature] > 1).collect();
        let mut best: Option<Split> = None;
        for abreast in features.chunks(ABREAST) {
            match *abreast {
                [a, b, c, d] => {
                    let columns = [a, b, c, d].map(|feature| self.columns[feature]);
                    fill(&mut self.histograms, columns, rows, targets);
                }
                _ => {
                    for (histogram, &feature) in self.histograms.iter_mut().zip(abreast) {
                        fill(std::array::from_mut(histogram), [self.columns[feature]], rows, targets);
                    }
                }
            }
            for (histogram, &feature) in self.histograms.iter_mut().zip(abreast) {
                let (mut sum, mut left) = (0.0, 0);
                histogram.drain(|bin, more, rows| {
                    sum += more;
                    left += rows as usize;
                    if bin + 1 == self.bins[feature] || count - left < self.smallest {
                        return false;
                    }
                    if left < self.smallest {
                        return true;
                    }
                    let rest = all - sum;
                    let gain = sum * sum / left as f64 + rest * rest / (count - left) as f64 - before;
                    // Ties go to the feature of the lower number, whatever the order of the draw.
                    let better = best.is_none_or(|other| {
                        gain > other.gain || (gain == other.gain && feature < other.feature)
                    });
                    if gain > self.least && better {
                        best = Some(Split { gain, feature, bin });
                    }
                    true
                });
            }
        }
        best
    }

    /// Puts the rows that go left first, both in their order; where the others begin.
    fn partition(&mut self, begin: usize, end: usize, split: Split) -> usize {
        let column = self.columns[split.feature];
        self.spare.clear();
        let mut middle = begin;
        for place in begin..end {
            let (row, target) = (self.rows[place], self.targets[place]);
            if column[row as usize] as usize <= split.bin {
                (self.rows[middle], self.targets[middle]) = (row, target);
                middle += 1;
            } else {
                self.spare.push((row, target));
            }
        }
        for (place, &(row, target)) in self.spare.iter().enumerate() {
            (self.rows[middle + place], self.targets[middle + place]) = (row, target);
        }
        middle
    }
}
