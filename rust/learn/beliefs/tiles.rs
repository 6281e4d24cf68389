//! Products of small blocks of matrices in single precision, with their sums in registers.
//!
//! A block is as wide as an observation has clones, any number. Whole vectors are computed all the same. What lies to
//! the right of a block is read, and forgotten before it is written: rows of results are zero up to the end of their
//! last vector. So sums over rows may take whole vectors, and add nothing where they are added to a wider table.
//! Tables therefore need `PAD` more numbers at their end, and rows that are written are `padded`.

use pulp::Simd;

/// Numbers that may be read, or have zeros added, behind the end of a table.
pub const PAD: usize = 64;

/// Length of a row that products are written to.
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(16)
}

/// A matrix of rows of `stride` numbers, and where in it a block begins.
#[derive(Clone, Copy)]
pub struct Block<M> {
    pub matrix: M,
    pub stride: usize,
    pub place: usize,
}

impl<'a> Block<&'a [f32]> {
    #[inline(always)]
    fn row(&self, index: usize) -> &'a [f32] {
        &self.matrix[self.place + index * self.stride..]
    }
}

/// Ones and zeros, from which a vector with any number of ones can be read.
const ONES: [[f32; 16]; 2] = [[1.0; 16], [0.0; 16]];

/// A vector with ones where the last vector of a row of this width has entries, and zeros behind it.
#[inline(always)]
fn inside<S: Simd>(width: usize) -> S::f32s {
    let entries = (width - 1) % S::F32_LANES + 1;
    S::as_simd_f32s(&ONES.as_flattened()[16 - entries..16 - entries + S::F32_LANES]).0[0]
}

/// Vectors that cover so many numbers.
#[inline(always)]
pub fn vectors<S: Simd>(width: usize) -> usize {
    width.div_ceil(S::F32_LANES)
}

/// The vectors that cover the first `width` numbers of a table with room behind it.
#[inline(always)]
pub fn whole<S: Simd>(table: &[f32], place: usize, width: usize) -> &[S::f32s] {
    S::as_simd_f32s(&table[place..place + vectors::<S>(width) * S::F32_LANES]).0
}

#[inline(always)]
pub fn whole_mut<S: Simd>(table: &mut [f32], place: usize, width: usize) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(&mut table[place..place + vectors::<S>(width) * S::F32_LANES]).0
}

/// Rows of a tile: as many as leave room for the sums in registers, and tiles of about the same height. A tile of a row
/// or two would wait for its own sums.
#[inline(always)]
fn height<S: Simd>(rows: usize) -> usize {
    let most = if S::F32_LANES == 16 { 8 } else { 4 };
    if rows >= 2 * most {
        most
    } else if rows > most {
        rows.div_ceil(2)
    } else {
        rows
    }
}

/// Calls a function for tiles of some rows and up to three vectors that cover a block.
macro_rules! for_tiles {
    ($simd:ident: $S:ident, $rows:expr, $width:expr, |$row:ident, $column:ident| $function:ident $arguments:tt) => {
        let (rows, vectors) = ($rows, vectors::<$S>($width));
        let mut $row = 0;
        while $row < rows {
            let height = height::<$S>(rows - $row);
            let mut vector = 0;
            while vector < vectors {
                let $column = vector * $S::F32_LANES;
                vector += match height {
                    1 => for_tiles!(@widths $S, 1, vectors - vector, $function $arguments),
                    2 => for_tiles!(@widths $S, 2, vectors - vector, $function $arguments),
                    3 => for_tiles!(@widths $S, 3, vectors - vector, $function $arguments),
                    4 => for_tiles!(@widths $S, 4, vectors - vector, $function $arguments),
                    5 => for_tiles!(@widths $S, 5, vectors - vector, $function $arguments),
                    6 => for_tiles!(@widths $S, 6, vectors - vector, $function $arguments),
                    7 => for_tiles!(@widths $S, 7, vectors - vector, $function $arguments),
                    _ => for_tiles!(@widths $S, 8, vectors - vector, $function $arguments),
                };
            }
            $row += height;
        }
    };
    (@widths $S:ident, $height:literal, $left:expr, $function:ident $arguments:tt) => {
        match $left {
            1 => for_tiles!(@call $S, $height, 1, $function $arguments),
            2 => for_tiles!(@call $S, $height, 2, $function $arguments),
            _ => for_tiles!(@call $S, $height, 3, $function $arguments),
        }
    };
    (@call $S:ident, $height:literal, $vectors:literal, $function:ident $arguments:tt) => {{
        $function::<$S, $height, $vectors> $arguments;
        $vectors
    }};
}

/// out[e, j] = Σ_s weights[e, s] · block[s, j] for e < `rows`, s < `depth`, j < `width`; zero behind.
#[inline(always)]
pub fn combine<S: Simd>(
    simd: S,
    weights: Block<&[f32]>,
    block: Block<&[f32]>,
    out: &mut Block<&mut [f32]>,
    (rows, depth, width): (usize, usize, usize),
) {
    for_tiles!(simd: S, rows, width, |row, column| combine_tile(simd, weights, block, out, row, column, depth, width));
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
#[allow(clippy::needless_range_loop, reason = "plain loops keep their sums in registers")]
fn combine_tile<S: Simd, const H: usize, const V: usize>(
    simd: S,
    weights: Block<&[f32]>,
    block: Block<&[f32]>,
    out: &mut Block<&mut [f32]>,
    row: usize,
    column: usize,
    depth: usize,
    width: usize,
) {
    // Not by `from_fn`, which is not always inlined.
    let mut of: [&[f32]; H] = [&[]; H];
    for i in 0..H {
        of[i] = &weights.row(row + i)[..depth];
    }
    let mut sums = [[simd.splat_f32s(0.0); V]; H];
    for s in 0..depth {
        let (entries, _) = S::as_simd_f32s(&block.row(s)[column..column + V * S::F32_LANES]);
        for i in 0..H {
            let weight = simd.splat_f32s(of[i][s]);
            for v in 0..V {
                sums[i][v] = simd.mul_add_e_f32s(weight, entries[v], sums[i][v]);
            }
        }
    }
    let last = if column + V * S::F32_LANES < width { simd.splat_f32s(1.0) } else { inside::<S>(width) };
    for (i, sums) in sums.iter_mut().enumerate() {
        sums[V - 1] = simd.mul_f32s(sums[V - 1], last);
        let place = out.place + (row + i) * out.stride + column;
        let (entries, _) = S::as_mut_simd_f32s(&mut out.matrix[place..place + V * S::F32_LANES]);
        entries.copy_from_slice(sums);
    }
}

/// block[s, j] += Σ_e weights[e, s] · values[e, j] for e < `depth`, s < `rows`, j < `width`; values are zero behind.
/// `places` says which row of the weights and which of the values is number e.
#[inline(always)]
pub fn add_product<S: Simd>(
    simd: S,
    weights: Block<&[f32]>,
    values: Block<&[f32]>,
    block: &mut Block<&mut [f32]>,
    (rows, depth, width): (usize, usize, usize),
    places: impl Fn(usize) -> (usize, usize),
) {
    for_tiles!(simd: S, rows, width, |row, column| product_tile(simd, weights, values, block, row, column, depth, &places));
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn product_tile<S: Simd, const H: usize, const V: usize>(
    simd: S,
    weights: Block<&[f32]>,
    values: Block<&[f32]>,
    block: &mut Block<&mut [f32]>,
    row: usize,
    column: usize,
    depth: usize,
    places: impl Fn(usize) -> (usize, usize),
) {
    let mut sums = [[simd.splat_f32s(0.0); V]; H];
    for e in 0..depth {
        let (weight, value) = places(e);
        let (entries, _) = S::as_simd_f32s(&values.row(value)[column..column + V * S::F32_LANES]);
        let of: &[f32; H] = weights.row(weight)[row..].first_chunk().expect("padded rows");
        for i in 0..H {
            let weight = simd.splat_f32s(of[i]);
            for v in 0..V {
                sums[i][v] = simd.mul_add_e_f32s(weight, entries[v], sums[i][v]);
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        let place = block.place + (row + i) * block.stride + column;
        let entries = &mut block.matrix[place..place + V * S::F32_LANES];
        for (entry, sum) in S::as_mut_simd_f32s(entries).0.iter_mut().zip(sums) {
            *entry = simd.add_f32s(*entry, *sum);
        }
    }
}

/// Σ_s x[s] · y[s], in lanes.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, x: &[S::f32s], y: &[S::f32s]) -> f32 {
    let mut sum = simd.splat_f32s(0.0);
    for (x, y) in x.iter().zip(y) {
        sum = simd.mul_add_e_f32s(*x, *y, sum);
    }
    simd.reduce_sum_f32s(sum)
}

/// Σ_s x[s], in lanes.
#[inline(always)]
pub fn total<S: Simd>(simd: S, x: &[S::f32s]) -> f32 {
    simd.reduce_sum_f32s(x.iter().fold(simd.splat_f32s(0.0), |sum, x| simd.add_f32s(sum, *x)))
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;
    use crate::rng::Rng;

    struct Check<'a> {
        rng: &'a mut Rng,
        sizes: (usize, usize, usize),
    }

    impl WithSimd for Check<'_> {
        type Output = ();

        /// Small integers: every order of summation gives the same number.
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (rows, depth, width) = self.sizes;
            let mut draw = |count: usize| -> Vec<f32> {
                (0..count + PAD).map(|_| self.rng.below(9) as f32 - 4.0).collect()
            };
            let (stride, wide) = (padded(depth.max(rows)) + 3, width + 5);
            let (weights, matrix) = (draw((rows + depth) * stride), draw((rows + depth) * wide));
            let mut out = vec![0.0; rows * padded(width)];
            let from = |matrix, stride| Block { matrix, stride, place: 2 };
            let mut written = Block { matrix: &mut out[..], stride: padded(width), place: 0 };
            combine(simd, from(&weights[..], stride), from(&matrix[..], wide), &mut written, self.sizes);
            let entry = |m: &[f32], stride: usize, i: usize, j: usize| m[2 + i * stride + j];
            for e in 0..rows {
                for j in 0..vectors::<S>(width) * S::F32_LANES {
                    let term = |s| entry(&weights, stride, e, s) * entry(&matrix, wide, s, j);
                    let sum = if j < width { (0..depth).map(term).sum::<f32>() } else { 0.0 };
                    assert_eq!(out[e * padded(width) + j], sum);
                }
            }
            let mut values = draw(depth * padded(width));
            values
                .chunks_mut(padded(width))
                .for_each(|row| row.iter_mut().skip(width).for_each(|x| *x = 0.0));
            let mut sums = draw(rows * wide);
            let before = sums.clone();
            let mut block = Block { matrix: &mut sums[..], stride: wide, place: 2 };
            let rows_of_values = Block { matrix: &values[..], stride: padded(width), place: 0 };
            add_product(simd, from(&weights[..], stride), rows_of_values, &mut block, self.sizes, |e| (e, e));
            for (place, (new, old)) in sums.iter().zip(&before).enumerate() {
                let (s, j) = ((place.wrapping_sub(2)) / wide, (place.wrapping_sub(2)) % wide);
                let term = |e| entry(&weights, stride, e, s) * values[e * padded(width) + j];
                let inside = place >= 2 && s < rows && j < width;
                let added = if inside { (0..depth).map(term).sum::<f32>() } else { 0.0 };
                assert_eq!(*new, old + added);
            }
            let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
            let count = vectors::<S>(width) * S::F32_LANES;
            let (x, y) = (whole::<S>(&values, 0, width), whole::<S>(&weights, 0, width));
            assert_eq!(dot(simd, x, y), product(&values[..count], &weights));
            assert_eq!(total(simd, x), values[..width].iter().sum::<f32>());
        }
    }

    #[test]
    fn tiles_give_the_sums_of_the_block_and_touch_nothing_beside_it() {
        let mut rng = Rng::stream(0, 0);
        for width in [1, 2, 7, 8, 9, 16, 17, 24, 25, 47, 48, 60, 100] {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 13, 17] {
                let sizes = (rows, 1 + rng.below(20), width);
                Arch::new().dispatch(Check { rng: &mut rng, sizes });
            }
        }
    }
}
