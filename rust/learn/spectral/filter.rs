//! Affine filters: the state after a symbol is a matrix of that symbol times the state before it.

use pulp::{Arch, Simd, WithSimd};

use crate::error::{Error, Result};
use crate::parallel::{Ticker, fill_blocks};

/// "No matrix for this symbol": it never occurred in the data, and the state stays as it is.
pub const UNSEEN: i32 = -1;

/// Rows are filled up to a multiple of this: the longest vector of any processor, and what is summed at once at most.
const LANES: usize = 16;
const MAX_COLUMNS: usize = 8 * LANES;

/// Episodes a thread takes at a time.
const BLOCK: usize = 64;

/// x' = [1, x] · F_σ, shortened to a root mean square of `reach` where it is longer.
///
/// A product of noisy matrices may grow without bound in long episodes. States of that length do not occur otherwise.
#[derive(Clone, Debug)]
pub struct Filter {
    arch: Arch,
    rank: usize,
    reach: f32,
    /// (symbols, 1 + rank, rank up to the next multiple of `LANES`), zeros at the end of every row.
    operators: Vec<f32>,
}

impl Filter {
    /// `operators` are (symbols, 1 + rank, rank).
    pub fn new(rank: usize, operators: &[f32], reach: f32) -> Result<Self> {
        let size = (1 + rank) * rank;
        if rank == 0 || operators.is_empty() || !operators.len().is_multiple_of(size) {
            let given = format!("{} entries", operators.len());
            return Err(Error::argument(
                "operators",
                given,
                format!("expected matrices of {} × {rank}", 1 + rank),
            ));
        }
        if let Some(bad) = operators.iter().find(|x| !x.is_finite()) {
            return Err(Error::argument("operators", bad, "all numbers of a filter must be finite"));
        }
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(Error::argument("reach", reach, "give a positive number"));
        }
        let mut padded = Vec::with_capacity(operators.len() / rank * rank.next_multiple_of(LANES));
        for row in operators.chunks_exact(rank) {
            padded.extend_from_slice(row);
            padded.resize(padded.len().next_multiple_of(LANES), 0.0);
        }
        Ok(Filter { arch: Arch::new(), rank, reach, operators: padded })
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn n_symbols(&self) -> usize {
        self.operators.len() / self.size()
    }

    /// (symbols, 1 + rank, rank)
    pub fn operators(&self) -> Vec<f32> {
        let rows = self.operators.chunks_exact(self.rank.next_multiple_of(LANES));
        rows.flat_map(|row| &row[..self.rank]).copied().collect()
    }

    fn size(&self) -> usize {
        (1 + self.rank) * self.rank.next_multiple_of(LANES)
    }

    /// next = the state after the symbol at `place`.
    #[inline]
    pub fn step(&self, state: &[f32], place: i32, next: &mut [f32]) {
        if place == UNSEEN {
            next.copy_from_slice(state);
            return;
        }
        let operator = &self.operators[place as usize * self.size()..][..self.size()];
        self.arch.dispatch(Step { state, operator, reach: self.reach, next });
    }

    /// [1, state] at every cut of episodes, (steps + episodes, 1 + rank), from the first cut on or from the last back.
    ///
    /// places : of the symbol of every step; starts : (episodes, rank), the states where the filter begins
    pub fn along(
        &self,
        places: &[i32],
        offsets: &[i64],
        starts: &[f32],
        backward: bool,
        threads: usize,
        ticker: &Ticker,
    ) -> Result<Vec<f32>> {
        let (episodes, width) = (offsets.len().saturating_sub(1), 1 + self.rank);
        let cut = offsets.first() == Some(&0) && offsets.is_sorted();
        if !cut || offsets.last() != Some(&(places.len() as i64)) {
            return Err(Error::argument("offsets", episodes, "they do not cut the steps into episodes"));
        }
        if starts.len() != episodes * self.rank {
            return Err(Error::argument(
                "starts",
                starts.len(),
                format!("expected {}", episodes * self.rank),
            ));
        }
        let known = UNSEEN..self.n_symbols() as i32;
        if let Some(place) = places.iter().find(|place| !known.contains(place)) {
            return Err(Error::argument("places", place, format!("there are {} symbols", self.n_symbols())));
        }
        let begin = |episode: usize| offsets[episode] as usize + episode;
        let mut out = vec![1.0; begin(episodes) * width];
        let place = |episode: usize| begin(episode) * width;
        fill_blocks(threads, episodes, BLOCK, ticker, &mut out, place, |block, rows| {
            let first = begin(block.start);
            let (mut state, mut next) = (vec![0.0; self.rank], vec![0.0; self.rank]);
            for episode in block {
                let steps = &places[offsets[episode] as usize..offsets[episode + 1] as usize];
                state.copy_from_slice(&starts[episode * self.rank..(episode + 1) * self.rank]);
                for step in 0..=steps.len() {
                    if step > 0 {
                        let symbol = if backward { steps[steps.len() - step] } else { steps[step - 1] };
                        self.step(&state, symbol, &mut next);
                        std::mem::swap(&mut state, &mut next);
                    }
                    let cut = if backward { steps.len() - step } else { step };
                    let row = (begin(episode) - first + cut) * width;
                    rows[row + 1..row + width].copy_from_slice(&state);
                }
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// `Filter::step` with the widest vectors that the processor has. Products are not fused with sums, and rows come in
/// order: the bits are the same on every processor.
struct Step<'a> {
    state: &'a [f32],
    operator: &'a [f32],
    reach: f32,
    next: &'a mut [f32],
}

impl WithSimd for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let padded = self.next.len().next_multiple_of(LANES);
        let mut first = 0;
        // As many sums as there are registers for: each is a chain of additions, and they hide each other's latency.
        while first < padded {
            let (operator, next) = (&self.operator[first..], &mut self.next[first..]);
            first += match (padded - first) / S::F32_LANES {
                8.. => sum_columns::<S, 8>(simd, self.state, operator, padded, next),
                4.. => sum_columns::<S, 4>(simd, self.state, operator, padded, next),
                2.. => sum_columns::<S, 2>(simd, self.state, operator, padded, next),
                _ => sum_columns::<S, 1>(simd, self.state, operator, padded, next),
            };
        }
        let long = (squares(self.next) / self.next.len() as f32).sqrt();
        if long > self.reach {
            let scale = self.reach / long;
            // Beyond the largest number nothing is known: back to the middle.
            let scale = if scale > 0.0 && long.is_finite() { scale } else { 0.0 };
            self.next.iter_mut().for_each(|x| *x = if x.is_finite() { *x * scale } else { 0.0 });
        }
    }
}

/// Σ x², in eight running sums: one alone would wait for every addition.
#[inline(always)]
fn squares(numbers: &[f32]) -> f32 {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for lane in 0..8 {
            sums[lane] += eight[lane] * eight[lane];
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| x * x).sum::<f32>()
}

/// The first `N` vectors of columns of [1, state] · operator, as many as `next` has room for; the number of columns.
#[inline(always)]
fn sum_columns<S: Simd, const N: usize>(
    simd: S,
    state: &[f32],
    operator: &[f32],
    padded: usize,
    next: &mut [f32],
) -> usize {
    let columns = N * S::F32_LANES;
    let row = |i: usize| -> &[S::f32s] { S::as_simd_f32s(&operator[i * padded..][..columns]).0 };
    let mut sums = [simd.splat_f32s(0.0); N];
    sums.copy_from_slice(row(0));
    for (i, &x) in state.iter().enumerate() {
        let (x, row) = (simd.splat_f32s(x), row(i + 1));
        for j in 0..N {
            sums[j] = simd.add_f32s(sums[j], simd.mul_f32s(x, row[j]));
        }
    }
    // Through a buffer: `next` may end in the middle of a vector.
    let mut numbers = [0.0; MAX_COLUMNS];
    S::as_mut_simd_f32s(&mut numbers).0[..N].copy_from_slice(&sums);
    let count = next.len().min(columns);
    next[..count].copy_from_slice(&numbers[..count]);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn random(rng: &mut Rng, count: usize) -> Vec<f32> {
        (0..count).map(|_| rng.uniform() as f32 - 0.5).collect()
    }

    #[test]
    fn a_step_has_the_bits_of_plain_sums() {
        let mut rng = Rng::stream(0, 0);
        for rank in [1, 5, 16, 20, 30, 40, 70] {
            let (state, operator) = (random(&mut rng, rank), random(&mut rng, (1 + rank) * rank));
            let filter = Filter::new(rank, &operator, 1e9).unwrap();
            assert_eq!(filter.operators(), operator);
            let mut next = vec![9.0; rank];
            filter.step(&state, 0, &mut next);
            let sum = |j: usize| {
                (0..rank).fold(operator[j], |sum, i| sum + state[i] * operator[(i + 1) * rank + j])
            };
            assert_eq!(next, (0..rank).map(sum).collect::<Vec<f32>>());
        }
    }

    #[test]
    fn a_state_never_goes_beyond_its_reach() {
        let along = |growth: f32| {
            let filter = Filter::new(2, &[3.0, 4.0, growth, 0.0, 0.0, growth], 1.0).unwrap();
            filter.along(&[0; 9], &[0, 9], &[0.0; 2], false, 1, &Ticker::default()).unwrap()
        };
        for row in along(1e9).chunks_exact(3).skip(1) {
            let mean = (row[1] * row[1] + row[2] * row[2]) / 2.0;
            assert!(row[0] == 1.0 && (mean - 1.0).abs() < 1e-6, "{row:?}");
        }
        assert!(along(1e38).iter().all(|x| x.abs() <= 1.5));
    }
}
