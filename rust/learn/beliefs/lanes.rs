//! Products with small blocks of a matrix, whose columns are summed side by side in registers.
//!
//! A block is as wide as an observation has clones, any number. Whole vectors are computed all the same: what
//! lies to the right of the block is read and then forgotten, or gets zeros added. Matrices therefore need `PAD`
//! more numbers at their end. Every sum is taken in the order of the rows, so the width does not change a bit.

/// Columns held at once.
const WIDEST: usize = 64;

/// Numbers that may be read behind the end of a matrix.
pub const PAD: usize = WIDEST;

/// Calls a function for as many lanes as a block of this width needs.
macro_rules! for_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width.div_ceil(8) {
            1 => $function::<8>($($argument),*),
            2 => $function::<16>($($argument),*),
            3 => $function::<24>($($argument),*),
            4 => $function::<32>($($argument),*),
            5 | 6 => $function::<48>($($argument),*),
            _ => $function::<64>($($argument),*),
        }
    };
}

/// A matrix of rows of `stride` numbers, and where in it a block begins.
pub struct Block<M> {
    pub matrix: M,
    pub stride: usize,
    pub place: usize,
}

/// out[j] = Σ_s weights[s] · block[s, j]
#[inline(always)]
pub fn combine(weights: &[f32], block: Block<&[f32]>, out: &mut [f32]) {
    let Block { matrix, stride, place } = block;
    for (part, out) in out.chunks_mut(WIDEST).enumerate() {
        let place = place + part * WIDEST;
        for_width!(out.len(), combine_lanes(weights, matrix, stride, place, out));
    }
}

#[inline(always)]
fn combine_lanes<const N: usize>(
    weights: &[f32],
    matrix: &[f32],
    stride: usize,
    place: usize,
    out: &mut [f32],
) {
    let mut sums = [0.0f32; N];
    for (s, &weight) in weights.iter().enumerate() {
        let row: &[f32; N] = matrix[place + s * stride..].first_chunk().expect("a padded matrix");
        sums.iter_mut().zip(row).for_each(|(sum, t)| *sum += weight * t);
    }
    out.copy_from_slice(&sums[..out.len()]);
}

/// block[s, j] += weights[s] · values[j]
#[inline(always)]
pub fn add_product(weights: &[f32], values: &[f32], block: Block<&mut [f32]>) {
    let Block { matrix, stride, place } = block;
    for (part, values) in values.chunks(WIDEST).enumerate() {
        let place = place + part * WIDEST;
        for_width!(values.len(), add_product_lanes(weights, values, matrix, stride, place));
    }
}

#[inline(always)]
fn add_product_lanes<const N: usize>(
    weights: &[f32],
    values: &[f32],
    matrix: &mut [f32],
    stride: usize,
    place: usize,
) {
    let mut padded = [0.0f32; N];
    padded[..values.len()].copy_from_slice(values);
    for (s, &weight) in weights.iter().enumerate() {
        let row: &mut [f32; N] = matrix[place + s * stride..].first_chunk_mut().expect("a padded matrix");
        row.iter_mut().zip(&padded).for_each(|(sum, value)| *sum += weight * value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Blocks of every width, somewhere in a matrix: the bits of the plain sums, and nothing beside the block.
    #[test]
    fn whole_vectors_give_the_sums_of_the_block() {
        let mut rng = Rng::stream(0, 0);
        for width in 1..140 {
            let (rows, stride, first) = (1 + width % 7, width + 5, 3);
            let draw = |rng: &mut Rng, count| (0..count).map(|_| rng.uniform() as f32).collect::<Vec<f32>>();
            let (weights, values) = (draw(&mut rng, rows), draw(&mut rng, width));
            let mut matrix = draw(&mut rng, rows * stride + PAD);
            let mut out = vec![0.0; width];
            combine(&weights, Block { matrix: &matrix, stride, place: first }, &mut out);
            for (j, sum) in out.iter().enumerate() {
                let terms = weights.iter().enumerate().map(|(s, w)| w * matrix[s * stride + first + j]);
                assert_eq!(*sum, terms.fold(0.0, |sum, term| sum + term));
            }
            let before = matrix.clone();
            add_product(&weights, &values, Block { matrix: &mut matrix, stride, place: first });
            for (place, (new, old)) in matrix.iter().zip(&before).enumerate() {
                let (s, column) = (place / stride, place % stride);
                let inside = s < rows && (first..first + width).contains(&column);
                let term = if inside { weights[s] * values[column - first] } else { 0.0 };
                assert_eq!(*new, old + term);
            }
        }
    }
}
