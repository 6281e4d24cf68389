//! First pass: sums over the cuts of all episodes, mergeable over shards.

use std::collections::BTreeMap;
use std::ops::Range;

use ndarray::{ArrayView2, linalg::general_mat_mul};
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::learn::spectral::cuts::{Coverage, Cuts, Settings};
use crate::learn::spectral::double::{Double, Quantum};
use crate::parallel::{Ticker, fold_exactly};
use crate::trajectories::View;

/// Episodes a thread takes at a time.
const BLOCK: usize = 64;

/// Blocks with more cells than this are kept as lists of the cells that were touched.
const DENSE_CELLS: usize = 1 << 22;

/// A matrix of sums.
#[derive(Clone, Debug)]
pub enum Cells {
    /// All cells, row by row.
    Full(Vec<Double>),
    /// Cells that are not zero, by place.
    Touched(FxHashMap<u64, Double>),
}

impl Cells {
    fn new(count: usize) -> Self {
        if count <= DENSE_CELLS { Cells::Full(vec![Double::default(); count]) } else { Cells::touched() }
    }

    fn touched() -> Self {
        Cells::Touched(FxHashMap::default())
    }

    /// Adds the outer product of two sparse vectors to a matrix with `width` columns.
    #[inline]
    fn add_product(&mut self, left: &[(u32, f64)], right: &[(u32, f64)], width: usize) {
        match self {
            Cells::Full(cells) => {
                for &(row, x) in left {
                    let cells = &mut cells[row as usize * width..][..width];
                    right.iter().for_each(|&(column, y)| cells[column as usize].add(x * y));
                }
            }
            Cells::Touched(cells) => {
                for &(row, x) in left {
                    let first = u64::from(row) * width as u64;
                    for &(column, y) in right {
                        cells.entry(first + u64::from(column)).or_default().add(x * y);
                    }
                }
            }
        }
    }

    /// Adds a term to every cell.
    fn add_all(&mut self, terms: impl Iterator<Item = f64>) {
        match self {
            Cells::Full(cells) => cells.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(term)),
            Cells::Touched(cells) => {
                (0..).zip(terms).for_each(|(cell, term)| cells.entry(cell).or_default().add(term));
            }
        }
    }

    fn merge(&mut self, other: &Cells) {
        other.for_each(|cell, sum| match self {
            Cells::Full(cells) => cells[cell as usize].merge(sum),
            Cells::Touched(cells) => cells.entry(cell).or_default().merge(sum),
        });
    }

    /// Every cell that differs from zero, in the order of cells.
    pub fn for_each(&self, mut visit: impl FnMut(u64, Double)) {
        match self {
            Cells::Full(cells) => {
                let filled = cells.iter().enumerate().filter(|(_, sum)| **sum != Double::default());
                filled.for_each(|(cell, sum)| visit(cell as u64, *sum));
            }
            Cells::Touched(cells) => {
                let filled = cells.iter().filter(|(_, sum)| **sum != Double::default());
                let mut keys: Vec<u64> = filled.map(|(cell, _)| *cell).collect();
                keys.sort_unstable();
                keys.into_iter().for_each(|cell| visit(cell, cells[&cell]));
            }
        }
    }
}

/// Unnormalised sums over episodes; divide by `episodes` for expectations.
#[derive(Clone, Debug)]
pub struct Accumulator {
    pub(crate) episodes: u64,
    pub(crate) steps: u64,
    /// left ⊗ right, (left_dim, right_dim).
    pub block: Cells,
    /// The same by symbol, for learners that keep everything; empty unless asked for.
    pub symbol_blocks: BTreeMap<u32, Cells>,
    by_symbol: bool,
    /// Column λ: left · y, (left_dim).
    pub column: Vec<Double>,
    /// Row λ at the first cut of the episodes, and over all cuts: (right_dim).
    pub start: Vec<Double>,
    pub(crate) average: Vec<Double>,
    /// Words known to the basis among those seen, for prefixes and suffixes.
    pub coverage: [Coverage; 2],
    shape: (usize, usize),
}

impl Accumulator {
    fn new(shape: (usize, usize), by_symbol: bool) -> Self {
        let (left, right) = shape;
        Accumulator {
            episodes: 0,
            steps: 0,
            block: Cells::new(left.saturating_mul(right)),
            symbol_blocks: BTreeMap::new(),
            by_symbol,
            column: vec![Double::default(); left],
            start: vec![Double::default(); right],
            average: vec![Double::default(); right],
            coverage: Default::default(),
            shape,
        }
    }

    /// (left_dim, right_dim)
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Adds the sums of other episodes.
    fn merge(&mut self, other: &Accumulator) {
        self.episodes += other.episodes;
        self.steps += other.steps;
        self.block.merge(&other.block);
        for (&symbol, cells) in &other.symbol_blocks {
            self.symbol_blocks.entry(symbol).or_insert_with(Cells::touched).merge(cells);
        }
        let pairs = [
            (&mut self.column, &other.column),
            (&mut self.start, &other.start),
            (&mut self.average, &other.average),
        ];
        for (mine, theirs) in pairs {
            mine.iter_mut().zip(theirs).for_each(|(sum, term)| sum.merge(*term));
        }
        for (mine, theirs) in self.coverage.iter_mut().zip(&other.coverage) {
            mine.known += theirs.known;
            mine.seen += theirs.seen;
        }
    }

    fn add_episode(&mut self, cuts: &Cuts, dense: &mut DenseScratch) {
        self.episodes += 1;
        self.steps += cuts.symbols().len() as u64;
        if dense.used {
            self.add_dense(cuts, dense);
        } else {
            self.add_sparse(cuts);
        }
    }

    fn add_sparse(&mut self, cuts: &Cuts) {
        let width = self.shape.1;
        let last = cuts.symbols().len();
        for cut in 0..=last {
            let (left, right) = (cuts.left.at(cut), cuts.right.at(cut));
            self.block.add_product(left, right, width);
            let value = cuts.values[cut];
            left.iter().for_each(|&(row, x)| self.column[row as usize].add(x * value));
            right.iter().for_each(|&(column, y)| self.average[column as usize].add(y));
            if self.by_symbol && cut < last {
                let cells = self.symbol_blocks.entry(cuts.symbols()[cut]).or_insert_with(Cells::touched);
                cells.add_product(left, cuts.right.at(cut + 1), width);
            }
        }
        cuts.right.at(0).iter().for_each(|&(column, y)| self.start[column as usize].add(y));
    }

    /// One matrix product per episode: episodes are the units that shards keep whole.
    fn add_dense(&mut self, cuts: &Cuts, scratch: &mut DenseScratch) {
        let (height, width) = self.shape;
        let quantum = scratch.quantum;
        let last = cuts.symbols().len();
        let left = ArrayView2::from_shape((last + 1, height), &cuts.left.dense).expect("one row per cut");
        let right = ArrayView2::from_shape((last + 1, width), &cuts.right.dense).expect("one row per cut");
        general_mat_mul(1.0, &left.t(), &right, 0.0, &mut scratch.product);
        self.block.add_all(scratch.product.iter().map(|&term| quantum.round(term)));
        for cut in 0..=last {
            let terms = left.row(cut).into_iter().map(|x| quantum.round(x * cuts.values[cut]));
            self.column.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(term));
            right.row(cut).iter().zip(&mut self.average).for_each(|(y, sum)| sum.add(quantum.round(*y)));
        }
        right.row(0).iter().zip(&mut self.start).for_each(|(y, sum)| sum.add(quantum.round(*y)));
        if self.by_symbol {
            for cut in 0..last {
                let cells = self.symbol_blocks.entry(cuts.symbols()[cut]).or_insert_with(Cells::touched);
                let next = right.row(cut + 1);
                let outer = left.row(cut).into_iter().flat_map(|x| next.iter().map(move |y| x * y));
                cells.add_all(outer.map(|term| quantum.round(term)));
            }
        }
    }
}

/// Room for the matrix product of one episode.
struct DenseScratch {
    used: bool,
    quantum: Quantum,
    product: ndarray::Array2<f64>,
}

/// Sums over all episodes of `view`. They are exact, so the bits do not depend on which thread adds what.
pub fn accumulate(
    view: &View,
    settings: &Settings,
    by_symbol: bool,
    threads: usize,
    ticker: &Ticker,
) -> Result<Accumulator> {
    let used = settings.prefixes.is_dense();
    let shape = if used { settings.shape() } else { (0, 0) };
    let zero = || {
        let product = ndarray::Array2::zeros(shape);
        let scratch = DenseScratch { used, quantum: settings.quantum, product };
        (Accumulator::new(settings.shape(), by_symbol), Cuts::new(settings), scratch)
    };
    let add = |(sums, cuts, scratch): &mut (Accumulator, Cuts, DenseScratch), episodes: Range<usize>| {
        for episode in episodes {
            // Dense projections of a whole block take longer than anyone waits after Ctrl-C.
            ticker.check()?;
            cuts.read(view, episode);
            sums.add_episode(cuts, scratch);
        }
        sums.coverage = cuts.coverage;
        Ok(())
    };
    let merge = |total: &mut (Accumulator, _, _), other: (Accumulator, _, _)| {
        total.0.merge(&other.0);
        Ok(())
    };
    Ok(fold_exactly(threads, view.n_episodes(), BLOCK, ticker, zero, add, merge)?.0)
}
