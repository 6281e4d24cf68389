//! A yardstick: the least that any accumulation over pairs of words must do.
//!
//! A program of its own, so that the crate holds nothing but what the package needs. Started as `count_pairs FILE
//! MAX_PREFIX MAX_SUFFIX DIM`; for every line that it is sent it counts once and answers with the nanoseconds that it
//! took and with the sum of all counters. FILE holds 64-bit numbers: how many episodes there are, their offsets,
//! and the symbols.

use std::io::{BufRead, Write};
use std::time::Instant;

/// Odd, with bits well spread: multiplying by it moves every bit of a word's key to the top.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Reads the symbols and increments one counter for every (prefix, suffix) pair at every cut, in a table of
/// (dim, dim) counters. Words find their rows and columns by one multiplication a symbol. No targets, no exact
/// sums, no good hash: nobody can learn from it, but nothing that learns can be much faster.
fn count_pairs(
    symbols: &[u64],
    offsets: &[u64],
    max_prefix: usize,
    max_suffix: usize,
    dim: usize,
) -> Vec<u64> {
    let mut counts = vec![0; dim * dim];
    let (mut rows, mut columns) = (vec![0; max_prefix + 1], vec![0; max_suffix + 1]);
    let place = |key: u64| ((u128::from(key) * dim as u128) >> 64) as usize;
    for ends in offsets.windows(2) {
        let (first, last) = (ends[0] as usize, ends[1] as usize);
        for cut in first..=last {
            let (prefixes, suffixes) = (max_prefix.min(cut - first), max_suffix.min(last - cut));
            let mut key = 0u64;
            for length in 1..=prefixes {
                key = (key ^ (symbols[cut - length] + 1)).wrapping_mul(SPREAD);
                rows[length] = place(key) * dim;
            }
            key = 0;
            for length in 1..=suffixes {
                key = (key ^ (symbols[cut + length - 1] + 1)).wrapping_mul(SPREAD);
                columns[length] = place(key);
            }
            for &row in &rows[..=prefixes] {
                let counts = &mut counts[row..row + dim];
                columns[..=suffixes].iter().for_each(|&column| counts[column] += 1);
            }
        }
    }
    counts
}

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let sizes: Vec<usize> = given[2..5].iter().map(|text| text.parse().expect("a number")).collect();
    let bytes = std::fs::read(&given[1]).expect("a file");
    let numbers: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|eight| u64::from_le_bytes(eight.try_into().expect("eight bytes")))
        .collect();
    let (offsets, symbols) = numbers[1..].split_at(numbers[0] as usize + 1);
    for line in std::io::stdin().lock().lines() {
        line.expect("a line");
        let begin = Instant::now();
        let counts = count_pairs(symbols, offsets, sizes[0], sizes[1], sizes[2]);
        let taken = begin.elapsed().as_nanos();
        println!("{taken} {}", counts.iter().sum::<u64>());
        std::io::stdout().flush().expect("a reader");
    }
}
