//! C += Pᵀ Q for many rows and few columns: the matrix product under the second pass.
//!
//! Both factors are kept in panels of a few columns, so that the innermost loop reads straight ahead and keeps its
//! tile of C in registers. (A row-major matrix of rank 64 has a stride of 512 bytes, which falls into a few sets of
//! the cache only.) Hot loops are plain and their arrays no larger than used: iterators over pairs are not always
//! inlined here, and sums that are sliced live in memory; either makes them ten times slower.

use pulp::{Arch, Simd, WithSimd};

/// Rows multiplied together. A panel of each factor stays in the cache next to the processor.
pub const DEPTH: usize = 128;

/// Rows from one panel to the next. With a power of two, the pieces of a row would share a few sets of the cache.
const APART: usize = DEPTH + 2;

/// A tile of C has this many rows, and this many vectors in each: eight sums under way hide the latency of an
/// addition.
const HEIGHT: usize = 4;
const VECTORS: usize = 2;

/// How products are made on this machine.
#[derive(Clone, Copy)]
pub struct Shape {
    arch: Arch,
    /// Rows and columns of C: the rank, filled up with zeros for whole tiles.
    pub padded: usize,
}

impl Shape {
    pub fn new(rank: usize) -> Self {
        let arch = Arch::new();
        Shape { arch, padded: rank.next_multiple_of(arch.dispatch(TileWidth).max(HEIGHT)) }
    }

    /// Adds Pᵀ Q over the first `rows` rows to `sum` (padded, padded).
    pub fn add_product(self, left: &LeftPanels, right: &RightPanels, rows: usize, sum: &mut [f64]) {
        self.arch.dispatch(Product { padded: self.padded, left: &left.0, right: &right.0, rows, sum });
    }

    /// `LeftPanels::write` or `RightPanels::write`: row number i of the factor becomes Σ value · (row number
    /// `place` of `map`) over the pairs (place, value) that `sums(i)` gives, for i < `rows`.
    pub fn write<'a, P: Panels>(
        self,
        panels: &mut P,
        rows: usize,
        sums: impl Fn(usize) -> &'a [(u32, f64)],
        map: &[f64],
    ) {
        self.arch.dispatch(WriteRows { padded: self.padded, panels, rows, sums, map });
    }
}

struct TileWidth;

impl WithSimd for TileWidth {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        VECTORS * S::F64_LANES
    }
}

struct Product<'a> {
    padded: usize,
    left: &'a [f64],
    right: &'a [f64],
    rows: usize,
    sum: &'a mut [f64],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = VECTORS * S::F64_LANES;
        for top in (0..self.padded).step_by(HEIGHT) {
            let (left, _) = self.left[top * APART..][..HEIGHT * self.rows].as_chunks::<HEIGHT>();
            for first in (0..self.padded).step_by(width) {
                let (right, _) = S::as_simd_f64s(&self.right[first * APART..][..width * self.rows]);
                let sums = tile(simd, left, right.as_chunks::<VECTORS>().0);
                for (i, sums) in sums.iter().enumerate() {
                    let row = &mut self.sum[(top + i) * self.padded + first..][..width];
                    let (row, _) = S::as_mut_simd_f64s(row);
                    row[0] = simd.add_f64s(row[0], sums[0]);
                    row[1] = simd.add_f64s(row[1], sums[1]);
                }
            }
        }
    }
}

/// Pᵀ Q of one panel of each.
#[inline(always)]
fn tile<S: Simd>(
    simd: S,
    left: &[[f64; HEIGHT]],
    right: &[[S::f64s; VECTORS]],
) -> [[S::f64s; VECTORS]; HEIGHT] {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; HEIGHT];
    for row in 0..left.len().min(right.len()) {
        let (p, q) = (&left[row], &right[row]);
        for i in 0..HEIGHT {
            let x = simd.splat_f64s(p[i]);
            sums[i][0] = simd.mul_add_e_f64s(x, q[0], sums[i][0]);
            sums[i][1] = simd.mul_add_e_f64s(x, q[1], sums[i][1]);
        }
    }
    sums
}

/// Up to `DEPTH` rows of one factor.
pub trait Panels {
    fn new(shape: Shape) -> Self;

    /// Copies a row of `padded` entries to row number `index`.
    fn store<S: Simd>(&mut self, simd: S, index: usize, row: &[f64]);
}

/// P, in panels as high as a tile.
pub struct LeftPanels(Vec<f64>);

/// Q, in panels as wide as a tile.
pub struct RightPanels(Vec<f64>);

impl Panels for LeftPanels {
    fn new(shape: Shape) -> Self {
        LeftPanels(vec![0.0; shape.padded * APART])
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, _: S, index: usize, row: &[f64]) {
        let (panels, _) = self.0.as_chunks_mut::<HEIGHT>();
        let (row, _) = row.as_chunks::<HEIGHT>();
        for panel in 0..row.len() {
            panels[panel * APART + index] = row[panel];
        }
    }
}

impl Panels for RightPanels {
    fn new(shape: Shape) -> Self {
        RightPanels(vec![0.0; shape.padded * APART])
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, _: S, index: usize, row: &[f64]) {
        let (panels, _) = S::as_mut_simd_f64s(&mut self.0).0.as_chunks_mut::<VECTORS>();
        let (row, _) = S::as_simd_f64s(row).0.as_chunks::<VECTORS>();
        for panel in 0..row.len() {
            panels[panel * APART + index] = row[panel];
        }
    }
}

struct WriteRows<'a, P, F> {
    padded: usize,
    panels: &'a mut P,
    rows: usize,
    sums: F,
    map: &'a [f64],
}

impl<'a, P: Panels, F: Fn(usize) -> &'a [(u32, f64)]> WithSimd for WriteRows<'_, P, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut row = vec![0.0; self.padded];
        let vectors = self.padded / S::F64_LANES;
        let of_map = |place: u32| {
            &S::as_simd_f64s(&self.map[place as usize * self.padded..][..self.padded]).0[..vectors]
        };
        for index in 0..self.rows {
            row.fill(0.0);
            let sum = &mut S::as_mut_simd_f64s(&mut row).0[..vectors];
            // Four at a time, so that a sum is loaded and stored once for all of them.
            let (fours, rest) = (self.sums)(index).as_chunks::<4>();
            for &[a, b, c, d] in fours {
                let rows = [of_map(a.0), of_map(b.0), of_map(c.0), of_map(d.0)];
                let splat = |value| simd.splat_f64s(value);
                let values = [splat(a.1), splat(b.1), splat(c.1), splat(d.1)];
                for j in 0..vectors {
                    let first = simd.mul_add_e_f64s(values[0], rows[0][j], sum[j]);
                    let second = simd.mul_f64s(values[1], rows[1][j]);
                    let first = simd.mul_add_e_f64s(values[2], rows[2][j], first);
                    let second = simd.mul_add_e_f64s(values[3], rows[3][j], second);
                    sum[j] = simd.add_f64s(first, second);
                }
            }
            for &(place, value) in rest {
                let (x, value) = (of_map(place), simd.splat_f64s(value));
                for j in 0..vectors {
                    sum[j] = simd.mul_add_e_f64s(value, x[j], sum[j]);
                }
            }
            self.panels.store(simd, index, &row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const WEIGHTS: [f64; 5] = [2.0, -1.0, 3.0, -2.0, 1.0];

    /// Small integers: every order of summation gives the same number.
    #[test]
    fn sums_of_outer_products() {
        let mut rng = Rng::stream(0, 0);
        for rank in [1, 3, 4, 8, 17, 40] {
            let shape = Shape::new(rank);
            let (mut left, mut right) = (LeftPanels::new(shape), RightPanels::new(shape));
            let size = shape.padded * shape.padded;
            let (mut sum, mut expected) = (vec![1.0; size], vec![1.0; size]);
            for rows in [1, 5, DEPTH] {
                // Every row is the sum of five rows of a map with these weights.
                let mut map = || -> Vec<f64> {
                    let entry = |i: usize, x: f64| if i % shape.padded < rank { x } else { 0.0 };
                    (0..5 * rows * shape.padded).map(|i| entry(i, rng.below(9) as f64 - 4.0)).collect()
                };
                let (p, q) = (map(), map());
                let pairs: Vec<[(u32, f64); 5]> = (0..rows)
                    .map(|row| std::array::from_fn(|i| ((5 * row + i) as u32, WEIGHTS[i])))
                    .collect();
                shape.write(&mut left, rows, |row| &pairs[row], &p);
                shape.write(&mut right, rows, |row| &pairs[row], &q);
                shape.add_product(&left, &right, rows, &mut sum);
                let entry = |map: &[f64], row: usize, column: usize| -> f64 {
                    let term = |(i, weight)| weight * map[(5 * row + i) * shape.padded + column];
                    WEIGHTS.iter().enumerate().map(term).sum()
                };
                for (cell, expected) in expected.iter_mut().enumerate() {
                    *expected += (0..rows)
                        .map(|row| entry(&p, row, cell / shape.padded) * entry(&q, row, cell % shape.padded))
                        .sum::<f64>();
                }
                assert_eq!(sum, expected);
            }
        }
    }
}
