//! Values by the last few symbols, as many of them as are known.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::rng::mix64;

/// Key of the empty context.
const ROOT: u64 = 0x243f_6a88_85a3_08d3;

/// Key of a context that reaches one symbol farther back; the symbol after the last stands for the start.
#[inline]
fn extend(key: u64, symbol: u64) -> u64 {
    mix64(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (symbol + 1))
}

/// Keys of the contexts of length 1, 2, … of a history given newest last; the start of the episode counts as a
/// symbol of its own, beyond which nothing lies.
pub fn context_keys(recent: &[u32], keys: &mut [u64]) -> usize {
    let mut key = ROOT;
    let mut length = 0;
    for (place, &symbol) in keys.iter_mut().zip(recent.iter().rev()) {
        key = extend(key, u64::from(symbol));
        *place = key;
        length += 1;
    }
    length
}

/// Rows of one value per action, found by the longest known context; row 0 is for no context at all.
#[derive(Clone, Debug)]
pub struct ContextTable {
    depth: usize,
    rows: FxHashMap<u64, u32>,
    values: Vec<f64>,
}

impl ContextTable {
    /// Row i + 1 of `values` belongs to `keys[i]`.
    pub fn new(depth: usize, keys: &[u64], values: Vec<f64>, n_actions: usize) -> Result<Self> {
        if values.len() != (keys.len() + 1) * n_actions {
            let remedy = format!("expected {} rows of {n_actions}", keys.len() + 1);
            return Err(Error::argument("values", format!("{} entries", values.len()), remedy));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::argument(
                "values",
                "NaN or infinity",
                "all numbers of a policy must be finite",
            ));
        }
        let rows: FxHashMap<u64, u32> =
            keys.iter().enumerate().map(|(row, &key)| (key, row as u32 + 1)).collect();
        if rows.len() != keys.len() {
            return Err(Error::argument("keys", format!("{} keys", keys.len()), "every context only once"));
        }
        Ok(ContextTable { depth, rows, values })
    }

    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Keys in the order of their rows, and all rows.
    pub fn parts(&self) -> (Vec<u64>, &[f64]) {
        let mut keys = vec![0; self.rows.len()];
        self.rows.iter().for_each(|(&key, &row)| keys[row as usize - 1] = key);
        (keys, &self.values)
    }

    /// All values times a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        ContextTable { values: self.values.iter().map(|value| value * factor).collect(), ..self.clone() }
    }

    /// Adds the values of the longest known context of `recent` (newest last).
    pub fn add_values(&self, recent: &[u32], sums: &mut [f64]) {
        let mut keys = [0u64; MOST_DEPTH];
        let known = context_keys(recent, &mut keys[..self.depth]);
        let found = keys[..known].iter().map_while(|key| self.rows.get(key)).last();
        let from = found.copied().unwrap_or(0) as usize * sums.len();
        sums.iter_mut().zip(&self.values[from..]).for_each(|(sum, value)| *sum += value);
    }
}

/// Longer contexts than this hardly ever come back.
pub const MOST_DEPTH: usize = 16;
