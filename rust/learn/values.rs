//! Sums of least-squares temporal differences on features most of which are zero.

use pulp::{Arch, Simd, WithSimd};

use crate::learn::beliefs::tiles::{Block, PAD, add_product, padded};

/// Cuts whose sums z are held at once.
const BLOCK: usize = 256;

/// Features that are looked at together: a cut where all of them are zero is left out.
const ROWS: usize = 8;

/// Rows x at every cut of some episodes, and numbers of every step.
pub struct Differences<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) width: usize,
    pub(crate) offsets: &'a [i64],
    pub(crate) rewards: &'a [f32],
    /// What the next row is multiplied with, and what a difference and a reward are; then by how much sums go on.
    pub(crate) following: &'a [f32],
    pub(crate) ratios: &'a [f32],
    pub(crate) factors: &'a [f32],
}

impl Differences<'_> {
    /// Σ x_t [z_t, R_t]ᵀ, (width, width + 1), where z and R are sums of ρ_t (x_t − γ_t x_{t+1}) and of ρ_t r_t that go on
    /// by the factors within an episode.
    pub fn sums(&self) -> Vec<f64> {
        let mut cut_steps = Vec::with_capacity(self.rows.len() / self.width);
        for ends in self.offsets.windows(2) {
            cut_steps.extend((ends[0] as usize..ends[1] as usize).map(Some));
            cut_steps.push(None);
        }
        let stride = padded(self.width + 1);
        let mut sums = vec![0.0f32; self.width * stride + PAD];
        Arch::new().dispatch(Pass { of: self, cut_steps: &cut_steps, stride, sums: &mut sums });
        let rows = sums.chunks_exact(stride).take(self.width);
        rows.flat_map(|row| &row[..=self.width]).map(|&sum| f64::from(sum)).collect()
    }
}

struct Pass<'a> {
    of: &'a Differences<'a>,
    /// The step that follows a cut, unless the episode is over.
    cut_steps: &'a [Option<usize>],
    stride: usize,
    sums: &'a mut [f32],
}

impl WithSimd for Pass<'_> {
    type Output = ();

    /// From the last block of cuts to the first, since sums go backward.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Differences { rows, width, .. } = *self.of;
        let stride = self.stride;
        let (mut z, mut carried) = (vec![0.0f32; (BLOCK + 1) * stride], vec![0.0f32; stride]);
        let (mut listed, mut end) = (Vec::with_capacity(BLOCK), self.cut_steps.len());
        while end > 0 {
            let first = end.saturating_sub(BLOCK);
            z[(end - first) * stride..][..stride].copy_from_slice(&carried);
            for cut in (first..end).rev() {
                let (row, after) = z[(cut - first) * stride..].split_at_mut(stride);
                self.difference(cut, row, &after[..stride]);
            }
            carried.copy_from_slice(&z[..stride]);
            for column in (0..width).step_by(ROWS) {
                let height = ROWS.min(width - column);
                listed.clear();
                listed.extend((first..end).filter(|&cut| {
                    let seen = &rows[cut * width + column..][..height];
                    self.cut_steps[cut].is_some() && seen.iter().any(|x| *x != 0.0)
                }));
                let weights = Block { matrix: rows, stride: width, place: column };
                let values = Block { matrix: &z[..], stride, place: 0 };
                let mut sums = Block { matrix: &mut *self.sums, stride, place: column * stride };
                let size = (height, listed.len(), width + 1);
                add_product(simd, weights, values, &mut sums, size, |e| (listed[e], listed[e] - first));
            }
            end = first;
        }
    }
}

impl Pass<'_> {
    /// [z, R] at a cut, from those at the next one.
    #[inline(always)]
    fn difference(&self, cut: usize, sums: &mut [f32], after: &[f32]) {
        let Differences { rows, width, rewards, following, ratios, factors, .. } = *self.of;
        let Some(step) = self.cut_steps[cut] else {
            sums.fill(0.0);
            return;
        };
        let (here, next) = rows[cut * width..(cut + 2) * width].split_at(width);
        let (follows, ratio, factor) = (following[step], ratios[step], factors[step]);
        for (((sum, here), next), after) in sums.iter_mut().zip(here).zip(next).zip(after) {
            *sum = ratio * (here - follows * next) + factor * after;
        }
        sums[width] = ratio * rewards[step] + factor * after[width];
    }
}
