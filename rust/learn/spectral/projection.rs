//! Random feature vectors φ(word) that are computed from the word itself, so that nothing is stored and every
//! thread, shard and machine computes the same ones.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::rng::mix64;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Non-zero entries of a sparse-sign vector.
pub const SPARSE_NONZEROS: usize = 4;

/// Wider projections than this are refused: the compressed block would not fit into memory.
const WIDEST: usize = 1 << 15;

/// How the random column of a word is drawn; d is the number of its entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Entries N(0, 1/d).
    Gaussian,
    /// Entries ±1/√d.
    Rademacher,
    /// Four entries ±1/2 at random places (which may coincide and then add up).
    Sparse,
    /// One entry ±1.
    Hashed,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Result<Self> {
        match name {
            "gaussian" => Ok(Kind::Gaussian),
            "rademacher" => Ok(Kind::Rademacher),
            "sparse" => Ok(Kind::Sparse),
            "hashed" => Ok(Kind::Hashed),
            _ => Err(Error::argument(
                "projection",
                name,
                "choose gaussian, rademacher, sparse, hashed or None",
            )),
        }
    }
}

/// A family of vectors of `dim` entries. The specification is frozen, since model files rely on it: the key of
/// a word is XXH3-64, with the seed, of its symbols as little-endian 32-bit words; entry i comes from the i-th
/// output of SplitMix64 started at the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    pub(crate) kind: Kind,
    pub(crate) dim: usize,
    pub(crate) seed: u64,
}

/// Output number `counter` of SplitMix64 started at `key`.
#[inline]
fn output(key: u64, counter: u64) -> u64 {
    mix64(key.wrapping_add(GOLDEN.wrapping_mul(counter + 1)))
}

impl Projection {
    pub(crate) fn new(name: &'static str, kind: Kind, dim: usize, seed: u64) -> Result<Self> {
        if dim == 0 || dim > WIDEST {
            return Err(Error::argument(name, dim, format!("give 1 to {WIDEST} dimensions")));
        }
        Ok(Projection { kind, dim, seed })
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.kind, Kind::Gaussian | Kind::Rademacher)
    }

    /// The key of the word whose symbols these bytes are.
    #[inline]
    pub fn key(&self, word: &[u8]) -> u64 {
        xxh3_64_with_seed(word, self.seed)
    }

    /// How many entries `sparse_entry` has.
    pub fn nonzeros(&self) -> usize {
        if self.kind == Kind::Hashed { 1 } else { SPARSE_NONZEROS }
    }

    /// Non-zero entry number `i` of a hashed or sparse vector: (place, value).
    #[inline]
    pub fn sparse_entry(&self, key: u64, i: usize) -> (u32, f64) {
        let bits = output(key, i as u64);
        let place = ((u128::from(bits) * self.dim as u128) >> 64) as u32;
        let size: f64 = if self.kind == Kind::Hashed { 1.0 } else { 0.5 };
        // The last bit becomes the sign: a branch on it would be guessed wrong half of the time.
        (place, f64::from_bits(size.to_bits() ^ bits << 63))
    }

    /// What a dense vector's entries are multiplied by for `weight` · φ.
    #[inline]
    pub fn size(&self, weight: f64) -> f64 {
        weight / (self.dim as f64).sqrt()
    }

    /// The entries of a Gaussian or Rademacher vector before scaling: standard normal, or ±1.
    pub fn direction(&self, key: u64, entries: &mut [f64]) {
        if self.kind == Kind::Rademacher {
            for (word, chunk) in entries.chunks_mut(64).enumerate() {
                let bits = output(key, word as u64);
                for (i, entry) in chunk.iter_mut().enumerate() {
                    *entry = if bits >> i & 1 == 0 { 1.0 } else { -1.0 };
                }
            }
        } else {
            for (pair, chunk) in entries.chunks_mut(2).enumerate() {
                let normals = normal_pair(output(key, 2 * pair as u64), output(key, 2 * pair as u64 + 1));
                chunk.copy_from_slice(&normals[..chunk.len()]);
            }
        }
    }

    /// φ in full.
    pub fn vector(&self, key: u64) -> Vec<f64> {
        let mut vector = vec![0.0; self.dim];
        if self.is_dense() {
            self.direction(key, &mut vector);
            vector.iter_mut().for_each(|entry| *entry *= self.size(1.0));
        } else {
            for i in 0..self.nonzeros() {
                let (place, value) = self.sparse_entry(key, i);
                vector[place as usize] += value;
            }
        }
        vector
    }
}

/// Box and Muller's transform. `libm` and not the system's library: its bits are the same everywhere.
fn normal_pair(first: u64, second: u64) -> [f64; 2] {
    let unit = 1.0 / (1u64 << 53) as f64;
    let radius = libm::sqrt(-2.0 * libm::log(((first >> 11) + 1) as f64 * unit));
    let angle = std::f64::consts::TAU * ((second >> 11) as f64 * unit);
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}
