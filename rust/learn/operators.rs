//! Second pass: the operator of every seen symbol, from the reduced maps of the singular value decomposition.
//!
//! B_σ = Σ p(j) ⊗ q(j + 1) over the cuts before a step with symbol σ, where p = left · `left_map` and
//! q = right · `right_map` have only `rank` entries. Cuts are grouped by symbol, so the work is one matrix
//! product per symbol and block.

use std::collections::BTreeMap;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, linalg::general_mat_mul};

use crate::error::{Error, Result};
use crate::learn::cuts::{Cuts, Rows, Settings};
use crate::parallel::{Ticker, fold_blocks};
use crate::trajectories::View;

/// Episodes a thread takes at a time: enough cuts per symbol for the matrix products to run near full speed.
const BLOCK: usize = 1024;

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
        |e| block_operators(view, settings, maps, e),
        merge,
    )?;
    Ok(total.unwrap_or_default())
}

fn block_operators(
    view: &View,
    settings: &Settings,
    maps: &ReducedMaps,
    episodes: std::ops::Range<usize>,
) -> Result<Operators> {
    let rank = maps.rank;
    let mut cuts = Cuts::new(settings);
    let (mut symbols, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
    let (mut p, mut q) = (Vec::new(), Vec::new());
    for episode in episodes {
        cuts.read(view, episode);
        let steps = cuts.symbols().len();
        reduce(&cuts.left, steps + 1, maps.left, rank, &mut p);
        reduce(&cuts.right, steps + 1, maps.right, rank, &mut q);
        symbols.extend_from_slice(cuts.symbols());
        left.extend_from_slice(&p[..steps * rank]);
        right.extend_from_slice(&q[rank..]);
    }
    let mut order: Vec<u32> = (0..symbols.len() as u32).collect();
    order.sort_by_key(|&cut| symbols[cut as usize]);
    let mut operators = Operators::new();
    let (mut p, mut q) = (Vec::new(), Vec::new());
    for group in order.chunk_by(|&a, &b| symbols[a as usize] == symbols[b as usize]) {
        gather(&left, group, rank, &mut p);
        gather(&right, group, rank, &mut q);
        let mut operator = vec![0.0; rank * rank];
        product(&p, &q, group.len(), rank, &mut operator);
        operators.insert(symbols[group[0] as usize], operator);
    }
    Ok(operators)
}

/// Rows of the cuts times a map of `rank` columns.
fn reduce(rows: &Rows, count: usize, map: &[f64], rank: usize, reduced: &mut Vec<f64>) {
    reduced.clear();
    reduced.resize(count * rank, 0.0);
    if !rows.dense.is_empty() {
        let dim = map.len() / rank;
        let rows = ArrayView2::from_shape((count, dim), &rows.dense).expect("one row per cut");
        let map = ArrayView2::from_shape((dim, rank), map).expect("checked above");
        let mut out = ArrayViewMut2::from_shape((count, rank), reduced).expect("sized above");
        general_mat_mul(1.0, &rows, &map, 0.0, &mut out);
        return;
    }
    for (cut, sum) in reduced.chunks_exact_mut(rank).enumerate() {
        for &(place, value) in rows.at(cut) {
            let row = &map[place as usize * rank..(place as usize + 1) * rank];
            sum.iter_mut().zip(row).for_each(|(entry, x)| *entry += value * x);
        }
    }
}

fn gather(rows: &[f64], group: &[u32], rank: usize, out: &mut Vec<f64>) {
    out.clear();
    for &row in group {
        out.extend_from_slice(&rows[row as usize * rank..(row as usize + 1) * rank]);
    }
}

/// pᵀ q
fn product(p: &[f64], q: &[f64], count: usize, rank: usize, out: &mut [f64]) {
    let p = ArrayView2::from_shape((count, rank), p).expect("gathered above");
    let q = ArrayView2::from_shape((count, rank), q).expect("gathered above");
    let mut result = Array2::zeros((rank, rank));
    general_mat_mul(1.0, &p.t(), &q, 0.0, &mut result);
    out.copy_from_slice(result.as_slice().expect("row-major"));
}
