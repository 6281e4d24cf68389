//! Second pass: the operator of every seen symbol, from the reduced maps of the singular value decomposition.
//!
//! B_σ = Σ p(j) ⊗ q(j + 1) over the cuts before a step with symbol σ, where p = left · `left_map` and
//! q = right · `right_map` have only `rank` entries. Cuts are collected in batches and grouped by symbol, so the
//! work is one matrix product per symbol and batch. Sparse vectors wait as they are and are reduced when their
//! group's turn comes, straight into the factors of the product: at rank 64 this is twice as fast as reducing them
//! at once, since reduced vectors of a whole batch do not fit the cache.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul};

use crate::error::{Error, Result};
use crate::learn::spectral::cuts::{Cuts, Settings};
use crate::learn::spectral::product::{DEPTH, LeftPanels, Panels, RightPanels, Shape};
use crate::learn::spectral::rows::Rows;
use crate::parallel::{Ticker, fold_blocks};
use crate::trajectories::View;

/// Episodes a thread takes at a time. All operators are added up once a block: fewer episodes would make that
/// show, more would leave threads without work.
const BLOCK: usize = 512;

/// Cuts multiplied together: enough per symbol for matrix products to pay, few enough that memory stays small
/// whatever the number and length of episodes.
const BATCH: usize = 1 << 13;

/// (left_dim, rank) and (right_dim, rank), row-major.
pub struct ReducedMaps<'a> {
    /// Columns of both.
    pub rank: usize,
    /// Of prefixes.
    pub left: &'a [f64],
    /// Of suffixes.
    pub right: &'a [f64],
}

/// Operators by symbol, each (rank, rank) row-major, not yet divided by the number of episodes.
pub type Operators = BTreeMap<u32, Vec<f64>>;

/// The second pass over some episodes: the operators of all symbols in reduced coordinates.
pub fn operators(
    view: &View,
    settings: &Settings,
    maps: &ReducedMaps,
    threads: usize,
    ticker: &Ticker,
) -> Result<Operators> {
    let (left, right) = settings.shape();
    for (name, map, dim) in [("left", maps.left, left), ("right", maps.right, right)] {
        if maps.rank == 0 || map.len() != dim * maps.rank {
            let remedy = format!("expected {dim} rows of {}", maps.rank);
            return Err(Error::argument(name, format!("{} entries", map.len()), remedy));
        }
    }
    let merge = |total: &mut Operators, block: Operators| {
        for (symbol, operator) in block {
            match total.entry(symbol) {
                Entry::Vacant(entry) => {
                    entry.insert(operator);
                }
                Entry::Occupied(mut entry) => {
                    entry.get_mut().iter_mut().zip(&operator).for_each(|(sum, term)| *sum += term);
                }
            }
        }
        Ok(())
    };
    let padded = PaddedMaps::new(maps);
    let total = fold_blocks(
        threads,
        view.n_episodes(),
        BLOCK,
        ticker,
        |episodes| block_operators(view, settings, &padded, episodes, ticker),
        merge,
    )?;
    Ok(total.unwrap_or_default())
}

fn block_operators(
    view: &View,
    settings: &Settings,
    maps: &PaddedMaps,
    episodes: Range<usize>,
    ticker: &Ticker,
) -> Result<Operators> {
    let mut cuts = Cuts::new(settings);
    let mut batch = Batch::new(maps);
    for episode in episodes {
        ticker.check()?;
        cuts.read(view, episode);
        let steps = cuts.symbols().len();
        for first in (0..steps).step_by(BATCH) {
            let last = steps.min(first + BATCH);
            batch.symbols.extend_from_slice(&cuts.symbols()[first..last]);
            batch.left.push(&cuts.left, first..last);
            batch.right.push(&cuts.right, first + 1..last + 1);
            if batch.symbols.len() >= BATCH {
                batch.multiply();
            }
        }
    }
    batch.multiply();
    let (rank, padded) = (maps.rank, maps.shape.padded);
    let unpadded = |operator: Vec<f64>| {
        let mut rows = Vec::with_capacity(rank * rank);
        operator.chunks_exact(padded).take(rank).for_each(|row| rows.extend_from_slice(&row[..rank]));
        rows
    };
    Ok(batch.operators.into_iter().map(|(symbol, operator)| (symbol, unpadded(operator))).collect())
}

/// The maps with rows filled up with zeros, as matrix products want them.
struct PaddedMaps {
    rank: usize,
    shape: Shape,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl PaddedMaps {
    fn new(maps: &ReducedMaps) -> Self {
        let shape = Shape::new(maps.rank);
        let pad = |map: &[f64]| {
            let mut padded = vec![0.0; map.len() / maps.rank * shape.padded];
            let rows = padded.chunks_exact_mut(shape.padded).zip(map.chunks_exact(maps.rank));
            rows.for_each(|(wide, row)| wide[..maps.rank].copy_from_slice(row));
            padded
        };
        PaddedMaps { rank: maps.rank, shape, left: pad(maps.left), right: pad(maps.right) }
    }
}

/// Cuts that wait to be multiplied symbol by symbol.
struct Batch<'a> {
    shape: Shape,
    symbols: Vec<u32>,
    left: Waiting<'a, LeftPanels>,
    right: Waiting<'a, RightPanels>,
    operators: Operators,
}

impl<'a> Batch<'a> {
    fn new(maps: &'a PaddedMaps) -> Self {
        Batch {
            shape: maps.shape,
            symbols: Vec::new(),
            left: Waiting::new(&maps.left, maps.shape),
            right: Waiting::new(&maps.right, maps.shape),
            operators: Operators::new(),
        }
    }

    /// Adds pᵀ q of every symbol's cuts to its operator, and empties the batch.
    fn multiply(&mut self) {
        // Symbol and place in one number: distinct keys need no stable sort, and cuts stay in their order.
        let mut order: Vec<u64> =
            self.symbols.iter().zip(0u64..).map(|(&symbol, cut)| u64::from(symbol) << 32 | cut).collect();
        order.sort_unstable();
        let size = self.shape.padded * self.shape.padded;
        for group in order.chunk_by(|a, b| a >> 32 == b >> 32) {
            let operator = self.operators.entry((group[0] >> 32) as u32).or_insert_with(|| vec![0.0; size]);
            for keys in group.chunks(DEPTH) {
                let cut = |row: usize| (keys[row] & u64::from(u32::MAX)) as usize;
                self.left.reduce(keys.len(), cut);
                self.right.reduce(keys.len(), cut);
                self.shape.add_product(&self.left.panels, &self.right.panels, keys.len(), operator);
            }
        }
        self.symbols.clear();
        self.left.clear();
        self.right.clear();
    }
}

/// Vectors on one side of consecutive cuts, and room for some of them after reduction.
struct Waiting<'a, P> {
    shape: Shape,
    map: &'a [f64],
    /// Non-zero entries of sparse vectors.
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
    /// Dense vectors, reduced on arrival by a matrix product of their own.
    reduced: Vec<f64>,
    /// Vectors of the group whose turn it is.
    group: Vec<(u32, f64)>,
    group_ends: Vec<usize>,
    panels: P,
}

impl<'a, P: Panels> Waiting<'a, P> {
    fn new(map: &'a [f64], shape: Shape) -> Self {
        Waiting {
            shape,
            map,
            entries: Vec::new(),
            ends: vec![0],
            reduced: Vec::new(),
            group: Vec::new(),
            group_ends: Vec::new(),
            panels: P::new(shape),
        }
    }

    fn push(&mut self, rows: &Rows, cuts: Range<usize>) {
        if rows.dense.is_empty() {
            for cut in cuts {
                self.entries.extend_from_slice(rows.at(cut));
                self.ends.push(self.entries.len());
            }
            return;
        }
        let (from, width) = (self.reduced.len(), self.shape.padded);
        let dim = self.map.len() / width;
        self.reduced.resize(from + cuts.len() * width, 0.0);
        let dense = &rows.dense[cuts.start * dim..cuts.end * dim];
        let rows = ArrayView2::from_shape((cuts.len(), dim), dense).expect("one row per cut");
        let map = ArrayView2::from_shape((dim, width), self.map).expect("padded above");
        let mut out =
            ArrayViewMut2::from_shape((cuts.len(), width), &mut self.reduced[from..]).expect("sized above");
        general_mat_mul(1.0, &rows, &map, 0.0, &mut out);
    }

    /// Writes the vectors at some cuts, times the map, into the panels.
    fn reduce(&mut self, cuts: usize, cut: impl Fn(usize) -> usize) {
        // Collected first: the vectors of a group lie far apart, and here the processor can wait for several at once.
        self.group.clear();
        self.group_ends.clear();
        self.group_ends.push(0);
        for row in 0..cuts {
            let cut = cut(row);
            if self.reduced.is_empty() {
                self.group.extend_from_slice(&self.entries[self.ends[cut]..self.ends[cut + 1]]);
            } else {
                self.group.push((cut as u32, 1.0));
            }
            self.group_ends.push(self.group.len());
        }
        let map = if self.reduced.is_empty() { self.map } else { &self.reduced };
        let vector = |row| &self.group[self.group_ends[row]..self.group_ends[row + 1]];
        self.shape.write(&mut self.panels, cuts, vector, map);
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.ends.truncate(1);
        self.reduced.clear();
    }
}
