//! Products of the states of automata, row vectors, with operators and weights.

use pulp::{Arch, Simd, WithSimd};

/// next = state · operator, (rank, rank) row-major.
#[inline]
pub fn step(arch: Arch, state: &[f64], operator: &[f64], next: &mut [f64]) {
    next.fill(0.0);
    arch.dispatch(Step { state, operator, next });
}

/// values[i] = row i of the weights · state.
#[inline]
pub fn weigh(arch: Arch, state: &[f64], weights: &[f64], values: &mut [f64]) {
    arch.dispatch(Weigh { state, weights, values });
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
            let mut next = vec![9.0; rank];
            step(Arch::new(), &state, &operator, &mut next);
            let sum = |j: usize| (0..rank).fold(0.0, |sum, i| sum + state[i] * operator[i * rank + j]);
            assert_eq!(next, (0..rank).map(sum).collect::<Vec<f64>>());
        }
    }
}
