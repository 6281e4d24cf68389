//! Reproducible random numbers: xoshiro256++, one independent stream per episode.
//!
//! The generator is written out because its output is part of our contract (same seed, same bits, for
//! ever), and library defaults such as `StdRng` may change in any release.

/// Blackman and Vigna's xoshiro256++ 1.0.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// The finaliser of SplitMix64: a bijection of 64-bit words with good avalanche.
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rng {
    /// The generator of stream number `stream` under `seed`; streams do not depend on each other, so
    /// episode 17 has the same random stream whichever thread plays it.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut key = mix64(mix64(seed.wrapping_add(GOLDEN)) ^ mix64(stream.wrapping_mul(GOLDEN) ^ !GOLDEN));
        let state = std::array::from_fn(|_| {
            key = key.wrapping_add(GOLDEN);
            mix64(key)
        });
        Rng { state }
    }

    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1) with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n. The bias of the multiply-high method is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Exponential of mean 1. In single precision a uniform number may be 1, and its logarithm infinite.
    pub fn exponential(&mut self) -> f32 {
        (-libm::logf(1.0 - self.uniform() as f32)).clamp(1e-6, 50.0)
    }

    #[inline]
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Index drawn from weights that sum to `total`; rounding can only ever pick a positive weight.
    #[inline]
    pub fn choose(&mut self, weights: &[f64], total: f64) -> usize {
        Self::pick(weights, self.uniform() * total)
    }

    /// The index at which the running sum of the weights first exceeds `left`; never one of weight zero.
    #[inline]
    pub fn pick(weights: &[f64], mut left: f64) -> usize {
        let mut last = 0;
        for (index, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                last = index;
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of the authors' C code from state (1, 2, 3, 4).
    #[test]
    fn reference_vector() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205];
        assert_eq!(expected.map(|_| rng.next_u64()), expected);
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Rng::stream(seed, stream).next_u64();
        assert_eq!(draw(3, 5), draw(3, 5));
        let mut all: Vec<u64> = (0..50).flat_map(|seed| (0..50).map(move |s| draw(seed, s))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2500);
    }

    #[test]
    fn choose_never_picks_weight_zero() {
        let mut rng = Rng::stream(0, 0);
        for _ in 0..1000 {
            assert_eq!(rng.choose(&[0.0, 0.3, 0.0], 0.3 + 1e-12), 1);
        }
    }
}
