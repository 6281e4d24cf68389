//! Second pass: the operator of every seen symbol, from the reduced maps of the singular value decomposition.
//!
//! B_σ = Σ p(j) ⊗ q(j + 1) over the cuts before a step with symbol σ, where p = left · `left_map` and
//! q = right · `right_map` have only `rank` entries. Cuts are collected in batches and grouped by symbol, so the
//! work is one matrix product per symbol and batch.

use std::collections::BTreeMap;
use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul};

use crate::error::{Error, Result};
use crate::learn::cuts::{Cuts, Rows, Settings};
use crate::parallel::{Ticker, fold_blocks};
use crate::trajectories::View;

/// Episodes a thread takes at a time.
const BLOCK: usize = 1024;

/// Cuts multiplied together: enough per symbol for matrix products to pay, few enough that memory stays small
/// whatever the number and length of episodes.
const BATCH: usize = 1 << 13;

/// (left_dim, rank) and (right_dim, rank), row-major.
pub struct ReducedMaps<'a> {
    pub rank: usize,
    pub left: &'a [f64],
    pub right: &'a [f64],
}

/// Operators by symbol, each (rank, rank) row-major, not yet divided by the number of episodes.
pub type Operators = BTreeMap<u32, Vec<f64>>;

pub fn operators(
    view: &View,
    settings: &Settings,
    maps: &ReducedMaps,
    threads: usize,
    ticker: &Ticker,
) -> Result<Operators> {
    settings.validate()?;
    for (name, map, dim) in
        [("left", maps.left, settings.left_dim()), ("right", maps.right, settings.right_dim())]
    {
        if maps.rank == 0 || map.len() != dim * maps.rank {
            let remedy = format!("expected {dim} rows of {}", maps.rank);
            return Err(Error::argument(name, format!("{} entries", map.len()), remedy));
        }
    }
    let merge = |total: &mut Operators, block: Operators| {
        for (symbol, operator) in block {
            let rows = total.entry(symbol).or_insert_with(|| vec![0.0; operator.len()]);
            rows.iter_mut().zip(&operator).for_each(|(sum, term)| *sum += term);
        }
        Ok(())
    };
    let total = fold_blocks(
        threads,
        view.n_episodes(),
        BLOCK,
        ticker,
        |e| block_operators(view, settings, maps, e, ticker),
        merge,
    )?;
    Ok(total.unwrap_or_default())
}

fn block_operators(
    view: &View,
    settings: &Settings,
    maps: &ReducedMaps,
    episodes: Range<usize>,
    ticker: &Ticker,
) -> Result<Operators> {
    let mut cuts = Cuts::new(settings);
    let mut batch = Batch::new(maps.rank);
    for episode in episodes {
        ticker.check()?;
        cuts.read(view, episode);
        let steps = cuts.symbols().len();
        for first in (0..steps).step_by(BATCH) {
            let last = steps.min(first + BATCH);
            batch.symbols.extend_from_slice(&cuts.symbols()[first..last]);
            reduce(&cuts.left, first..last, maps.left, maps.rank, &mut batch.left);
            reduce(&cuts.right, first + 1..last + 1, maps.right, maps.rank, &mut batch.right);
            if batch.symbols.len() >= BATCH {
                batch.multiply();
            }
        }
    }
    batch.multiply();
    Ok(batch.operators)
}

/// Reduced vectors of consecutive cuts, waiting to be multiplied symbol by symbol.
struct Batch {
    rank: usize,
    symbols: Vec<u32>,
    left: Vec<f64>,
    right: Vec<f64>,
    operators: Operators,
}

impl Batch {
    fn new(rank: usize) -> Self {
        Batch { rank, symbols: Vec::new(), left: Vec::new(), right: Vec::new(), operators: Operators::new() }
    }

    /// Adds pᵀ q of every symbol's cuts to its operator, and empties the batch.
    fn multiply(&mut self) {
        // Symbol and place in one number: distinct keys need no stable sort, and cuts stay in their order.
        let mut order: Vec<u64> =
            self.symbols.iter().zip(0u64..).map(|(&symbol, cut)| u64::from(symbol) << 32 | cut).collect();
        order.sort_unstable();
        let (rank, mut p, mut q) = (self.rank, Vec::new(), Vec::new());
        for group in order.chunk_by(|a, b| a >> 32 == b >> 32) {
            gather(&self.left, group, rank, &mut p);
            gather(&self.right, group, rank, &mut q);
            let operator =
                self.operators.entry((group[0] >> 32) as u32).or_insert_with(|| vec![0.0; rank * rank]);
            let p = ArrayView2::from_shape((group.len(), rank), &p).expect("gathered above");
            let q = ArrayView2::from_shape((group.len(), rank), &q).expect("gathered above");
            let mut sum = ArrayViewMut2::from_shape((rank, rank), operator).expect("sized above");
            general_mat_mul(1.0, &p.t(), &q, 1.0, &mut sum);
        }
        self.symbols.clear();
        self.left.clear();
        self.right.clear();
    }
}

/// Appends the rows of some cuts times a map of `rank` columns.
fn reduce(rows: &Rows, cuts: Range<usize>, map: &[f64], rank: usize, reduced: &mut Vec<f64>) {
    let from = reduced.len();
    reduced.resize(from + cuts.len() * rank, 0.0);
    let reduced = &mut reduced[from..];
    if !rows.dense.is_empty() {
        let dim = map.len() / rank;
        let dense = &rows.dense[cuts.start * dim..cuts.end * dim];
        let rows = ArrayView2::from_shape((cuts.len(), dim), dense).expect("one row per cut");
        let map = ArrayView2::from_shape((dim, rank), map).expect("checked above");
        let mut out = ArrayViewMut2::from_shape((cuts.len(), rank), reduced).expect("sized above");
        general_mat_mul(1.0, &rows, &map, 0.0, &mut out);
        return;
    }
    for (cut, sum) in cuts.zip(reduced.chunks_exact_mut(rank)) {
        for &(place, value) in rows.at(cut) {
            let row = &map[place as usize * rank..(place as usize + 1) * rank];
            sum.iter_mut().zip(row).for_each(|(entry, x)| *entry += value * x);
        }
    }
}

/// Copies the rows of a group of cuts; the lower half of a key is the cut's place.
fn gather(rows: &[f64], group: &[u64], rank: usize, out: &mut Vec<f64>) {
    out.clear();
    for key in group {
        let cut = (key & u64::from(u32::MAX)) as usize;
        out.extend_from_slice(&rows[cut * rank..(cut + 1) * rank]);
    }
}
