//! Products of small blocks of matrices in single precision, with their sums in registers.
//!
//! A block is as wide as an observation has clones, any number. Whole vectors are computed all the same: what lies to
//! the right of a block is read and then forgotten. Matrices therefore need `PAD` more numbers at their end, and rows
//! that are written are `padded`.

use pulp::Simd;

/// Numbers that may be read behind the end of a matrix.
pub const PAD: usize = 48;

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

/// Calls a function for tiles of up to four rows, and of the vectors named, that cover a block. With more the sums would
/// no longer fit the registers.
macro_rules! for_tiles {
    ($simd:ident: $S:ident, $rows:expr, $width:expr, [$($vectors:literal),*], |$row:ident, $column:ident|
     $function:ident $arguments:tt) => {
        let (rows, width) = ($rows, $width);
        let mut $row = 0;
        while $row < rows {
            let height = match rows - $row { 4.. => 4, 2.. => 2, _ => 1 };
            let mut $column = 0;
            while $column < width {
                let vectors = (width - $column).div_ceil($S::F32_LANES);
                let done = match height {
                    4 => for_tiles!(@widths $S, 4, vectors, [$($vectors),*], $function $arguments),
                    2 => for_tiles!(@widths $S, 2, vectors, [$($vectors),*], $function $arguments),
                    _ => for_tiles!(@widths $S, 1, vectors, [$($vectors),*], $function $arguments),
                };
                $column += done * $S::F32_LANES;
            }
            $row += height;
        }
    };
    (@widths $S:ident, $height:literal, $given:ident, [$($vectors:literal),*], $function:ident $arguments:tt) => {
        match $given {
            $($vectors.. => for_tiles!(@call $S, $height, $vectors, $function $arguments),)*
            0 => unreachable!("columns are left"),
        }
    };
    (@call $S:ident, $height:literal, $vectors:literal, $function:ident $arguments:tt) => {{
        $function::<$S, $height, $vectors> $arguments;
        $vectors
    }};
}

/// out[e, j] = Σ_s weights[e, s] · block[s, j] for e < `rows`, s < `depth`, j < `width`.
#[inline(always)]
pub fn combine<S: Simd>(
    simd: S,
    weights: Block<&[f32]>,
    block: Block<&[f32]>,
    out: &mut Block<&mut [f32]>,
    (rows, depth, width): (usize, usize, usize),
) {
    for_tiles!(simd: S, rows, width, [3, 2, 1], |row, column| combine_tile(simd, weights, block, out, row, column, depth));
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "plain loops keep their sums in registers")]
fn combine_tile<S: Simd, const H: usize, const V: usize>(
    simd: S,
    weights: Block<&[f32]>,
    block: Block<&[f32]>,
    out: &mut Block<&mut [f32]>,
    row: usize,
    column: usize,
    depth: usize,
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
    for (i, sums) in sums.iter().enumerate() {
        let place = out.place + (row + i) * out.stride + column;
        let (entries, _) = S::as_mut_simd_f32s(&mut out.matrix[place..place + V * S::F32_LANES]);
        entries.copy_from_slice(sums);
    }
}

/// block[s, j] += Σ_e weights[e, s] · values[e, j] for e < `depth`, s < `rows`, j < `width`.
#[inline(always)]
pub fn add_product<S: Simd>(
    simd: S,
    weights: Block<&[f32]>,
    values: Block<&[f32]>,
    block: &mut Block<&mut [f32]>,
    (rows, depth, width): (usize, usize, usize),
) {
    for_tiles!(simd: S, rows, width, [2, 1], |row, column| product_tile(simd, weights, values, block, row, column, depth, width));
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
    width: usize,
) {
    let mut sums = [[simd.splat_f32s(0.0); V]; H];
    for e in 0..depth {
        let (entries, _) = S::as_simd_f32s(&values.row(e)[column..column + V * S::F32_LANES]);
        let of: &[f32; H] = weights.row(e)[row..].first_chunk().expect("padded rows");
        for i in 0..H {
            let weight = simd.splat_f32s(of[i]);
            for v in 0..V {
                sums[i][v] = simd.mul_add_e_f32s(weight, entries[v], sums[i][v]);
            }
        }
    }
    let inside = (width - column).min(V * S::F32_LANES);
    for (i, sums) in sums.iter().enumerate() {
        let place = block.place + (row + i) * block.stride + column;
        let entries = &mut block.matrix[place..place + inside];
        if inside == V * S::F32_LANES {
            for (entry, sum) in S::as_mut_simd_f32s(entries).0.iter_mut().zip(sums) {
                *entry = simd.add_f32s(*entry, *sum);
            }
        } else {
            let sums: &[f32] = pulp::bytemuck::cast_slice(sums);
            entries.iter_mut().zip(sums).for_each(|(entry, sum)| *entry += sum);
        }
    }
}

/// Σ_s x[s] · y[s], in lanes.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
    let ((xs, x_rest), (ys, y_rest)) = (S::as_simd_f32s(x), S::as_simd_f32s(y));
    let mut sum = simd.splat_f32s(0.0);
    for (x, y) in xs.iter().zip(ys) {
        sum = simd.mul_add_e_f32s(*x, *y, sum);
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    simd.reduce_sum_f32s(sum) + rest
}

/// Σ_s x[s], in lanes.
#[inline(always)]
pub fn total<S: Simd>(simd: S, x: &[f32]) -> f32 {
    let (xs, rest) = S::as_simd_f32s(x);
    let sum = xs.iter().fold(simd.splat_f32s(0.0), |sum, x| simd.add_f32s(sum, *x));
    simd.reduce_sum_f32s(sum) + rest.iter().sum::<f32>()
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
                for j in 0..width {
                    let term = |s| entry(&weights, stride, e, s) * entry(&matrix, wide, s, j);
                    assert_eq!(out[e * padded(width) + j], (0..depth).map(term).sum::<f32>());
                }
            }
            let mut sums = draw(rows * wide);
            let before = sums.clone();
            let mut block = Block { matrix: &mut sums[..], stride: wide, place: 2 };
            add_product(simd, from(&weights[..], stride), from(&matrix[..], wide), &mut block, self.sizes);
            for (place, (new, old)) in sums.iter().zip(&before).enumerate() {
                let (s, j) = ((place.wrapping_sub(2)) / wide, (place.wrapping_sub(2)) % wide);
                let term = |e| entry(&weights, stride, e, s) * entry(&matrix, wide, e, j);
                let inside = place >= 2 && s < rows && j < width;
                let added = if inside { (0..depth).map(term).sum::<f32>() } else { 0.0 };
                assert_eq!(*new, old + added);
            }
            let plain: f32 = weights[..depth].iter().zip(&matrix).map(|(x, y)| x * y).sum();
            assert_eq!(dot(simd, &weights[..depth], &matrix[..depth]), plain);
            assert_eq!(total(simd, &weights[..depth]), weights[..depth].iter().sum::<f32>());
        }
    }

    #[test]
    fn tiles_give_the_sums_of_the_block_and_touch_nothing_beside_it() {
        let mut rng = Rng::stream(0, 0);
        for width in [1, 2, 7, 8, 9, 16, 17, 24, 25, 47, 48, 60, 100] {
            for rows in [1, 2, 3, 4, 5, 7, 13] {
                let sizes = (rows, 1 + rng.below(20), width);
                Arch::new().dispatch(Check { rng: &mut rng, sizes });
            }
        }
    }
}
