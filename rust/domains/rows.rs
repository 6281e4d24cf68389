//! Distributions over the same outcomes, kept small: without their zeros, and once where neighbours are equal.

use std::ops::Range;

use crate::error::Result;
use crate::reserve::{filled, reserve};
use crate::rng::Rng;

const WHAT: &str = "a table of probabilities";

/// A table of probabilities by rows. A file of a hundred bytes may ask for the identity or for uniform rows over
/// thousands of states: here the one costs an entry a row, the other one row in all.
#[derive(Clone, Debug)]
pub struct Rows {
    width: usize,
    /// Where the entries of every row lie.
    spans: Vec<Range<usize>>,
    outcomes: Vec<u32>,
    probs: Vec<f64>,
    /// Running sums within a row, for sampling by bisection.
    sums: Vec<f64>,
}

impl Rows {
    /// From a dense table of normalised rows; `width` is below 2³².
    pub fn new(table: &[f64], width: usize) -> Result<Self> {
        let mut rows = Rows { width, spans: vec![], outcomes: vec![], probs: vec![], sums: vec![] };
        reserve(&mut rows.spans, table.len() / width, WHAT)?;
        let mut before: &[f64] = &[];
        for row in table.chunks_exact(width) {
            let span = match rows.spans.last() {
                Some(span) if row == before => span.clone(),
                _ => rows.keep(row)?,
            };
            rows.spans.push(span);
            before = row;
        }
        Ok(rows)
    }

    /// The place of a row that was not there yet.
    fn keep(&mut self, row: &[f64]) -> Result<Range<usize>> {
        let first = self.probs.len();
        let count = row.iter().filter(|&&p| p != 0.0).count();
        reserve(&mut self.outcomes, count, WHAT)?;
        reserve(&mut self.probs, count, WHAT)?;
        reserve(&mut self.sums, count, WHAT)?;
        let mut sum = 0.0;
        for (outcome, &p) in row.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            sum += p;
            self.outcomes.push(outcome as u32);
            self.probs.push(p);
            self.sums.push(sum);
        }
        Ok(first..self.probs.len())
    }

    /// Draws an outcome of a row; one of probability zero is never drawn.
    pub fn draw(&self, row: usize, rng: &mut Rng) -> usize {
        let span = &self.spans[row];
        let sums = &self.sums[span.clone()];
        let u = rng.uniform() * sums[sums.len() - 1];
        let place = sums.partition_point(|&sum| sum <= u).min(sums.len() - 1);
        self.outcomes[span.start + place] as usize
    }

    /// All rows with their zeros.
    pub fn dense(&self) -> Result<Vec<f64>> {
        let mut table = filled(self.spans.len() * self.width, 0.0, WHAT)?;
        for (row, span) in table.chunks_exact_mut(self.width).zip(&self.spans) {
            for place in span.clone() {
                row[self.outcomes[place] as usize] = self.probs[place];
            }
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_and_uniform_rows_are_kept_small_and_come_back() {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let uniform = [0.25; 400];
        for (table, width, kept) in [(&identity[..], 3, 3), (&uniform[..], 4, 4)] {
            let rows = Rows::new(table, width).unwrap();
            assert_eq!(rows.probs.len(), kept);
            assert_eq!(rows.dense().unwrap(), table);
        }
    }
}
