//! Weighted automata: states as row vectors, one operator per seen symbol.

use pulp::{Arch, Simd, WithSimd};

use crate::error::{Error, Result};
use crate::policies::places::Places;

/// Operators of the seen symbols, and the way from a symbol to its operator.
#[derive(Clone, Debug)]
pub struct Automaton {
    arch: Arch,
    rank: usize,
    pub places: Places,
    /// (seen symbols, rank, rank), row-major.
    operators: Vec<f64>,
}

impl Automaton {
    /// `operators` are those of `symbols`, (rank, rank) each; the others were never seen.
    pub fn new(rank: usize, n_symbols: usize, symbols: &[i64], operators: Vec<f64>) -> Result<Self> {
        if rank == 0 || operators.len() != symbols.len() * rank * rank {
            let remedy = format!("expected {} operators of {rank} × {rank}, rank at least 1", symbols.len());
            return Err(Error::argument("operators", format!("{} entries", operators.len()), remedy));
        }
        if let Some(index) = operators.iter().position(|x| !x.is_finite()) {
            let place = format!("entry of symbol {} is {}", symbols[index / (rank * rank)], operators[index]);
            return Err(Error::argument("operators", place, "weights must be finite"));
        }
        let places = Places::new(symbols, n_symbols, "an automaton")?;
        Ok(Automaton { arch: Arch::new(), rank, places, operators })
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// What the processor can do, for loops over states.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    pub fn n_symbols(&self) -> usize {
        self.places.n_symbols()
    }

    /// Number of symbols that have an operator.
    pub fn n_seen(&self) -> usize {
        self.operators.len() / (self.rank * self.rank)
    }

    /// (seen symbols, rank, rank), row-major.
    pub fn operators(&self) -> &[f64] {
        &self.operators
    }

    /// Place of a symbol's operator; `UNSEEN` for symbols without one.
    #[inline]
    pub fn place(&self, symbol: usize) -> u32 {
        self.places.of(symbol)
    }

    /// next = state · A_σ for the operator at `place`.
    #[inline]
    pub fn step(&self, state: &[f64], place: u32, next: &mut [f64]) {
        let size = self.rank * self.rank;
        let operator = &self.operators[place as usize * size..(place as usize + 1) * size];
        next.fill(0.0);
        self.arch.dispatch(Step { state, operator, next });
    }

    /// values[i] = row i of the weights · state.
    #[inline]
    pub fn weigh(&self, state: &[f64], weights: &[f64], values: &mut [f64]) {
        self.arch.dispatch(Weigh { state, weights, values });
    }
}

/// In eight running sums: one alone would wait for every addition. The order is fixed, so the bits are everywhere the same.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((eights, rest), (others, last)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (x, y) in eights.iter().zip(others) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f64 = rest.iter().zip(last).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + tail
}

/// next = state · operator. Products are not fused with sums, and rows come in order: the bits are the same on
/// every processor, whatever the length of its vectors.
struct Step<'a> {
    state: &'a [f64],
    operator: &'a [f64],
    next: &'a mut [f64],
}

impl WithSimd for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rank = self.next.len();
        let (mut columns, tail) = S::as_mut_simd_f64s(self.next);
        let mut first = 0;
        // As many sums as there are registers for: each is a chain of additions, and they hide each other's latency.
        while !columns.is_empty() {
            let done = match columns.len() {
                10.. => add_rows::<S, 10>(simd, self.state, &self.operator[first..], rank, columns),
                8.. => add_rows::<S, 8>(simd, self.state, &self.operator[first..], rank, columns),
                4.. => add_rows::<S, 4>(simd, self.state, &self.operator[first..], rank, columns),
                2.. => add_rows::<S, 2>(simd, self.state, &self.operator[first..], rank, columns),
                _ => add_rows::<S, 1>(simd, self.state, &self.operator[first..], rank, columns),
            };
            columns = &mut columns[done..];
            first += done * S::F64_LANES;
        }
        for (i, &weight) in self.state.iter().enumerate() {
            let row = &self.operator[i * rank + first..(i + 1) * rank];
            for j in 0..tail.len() {
                tail[j] += weight * row[j];
            }
        }
    }
}

/// values[a] = weights[a] · state.
struct Weigh<'a> {
    state: &'a [f64],
    weights: &'a [f64],
    values: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        // All actions side by side, with strides, was measured: it takes twice as long.
        for (value, weights) in self.values.iter_mut().zip(self.weights.chunks_exact(self.state.len())) {
            *value = dot(self.state, weights);
        }
    }
}

/// Adds Σ state[i] · (row i of the operator) to the first `N` vectors of columns.
#[inline(always)]
fn add_rows<S: Simd, const N: usize>(
    simd: S,
    state: &[f64],
    operator: &[f64],
    rank: usize,
    columns: &mut [S::f64s],
) -> usize {
    let mut sums = [simd.splat_f64s(0.0); N];
    for (i, &weight) in state.iter().enumerate() {
        let (row, _) = S::as_simd_f64s(&operator[i * rank..][..N * S::F64_LANES]);
        let weight = simd.splat_f64s(weight);
        for j in 0..N {
            sums[j] = simd.add_f64s(sums[j], simd.mul_f64s(weight, row[j]));
        }
    }
    columns[..N].copy_from_slice(&sums);
    N
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_step_has_the_bits_of_plain_sums() {
        let mut rng = Rng::stream(0, 0);
        for rank in [1, 2, 5, 8, 14, 40] {
            let mut random = |count: usize| (0..count).map(|_| rng.uniform() - 0.5).collect::<Vec<f64>>();
            let (state, operator) = (random(rank), random(rank * rank));
            let automaton = Automaton::new(rank, 1, &[0], operator.clone()).unwrap();
            let mut next = vec![9.0; rank];
            automaton.step(&state, 0, &mut next);
            let sum = |j: usize| (0..rank).fold(0.0, |sum, i| sum + state[i] * operator[i * rank + j]);
            assert_eq!(next, (0..rank).map(sum).collect::<Vec<f64>>());
        }
    }
}
