//! Numbers with a shape, as policies are made of them.

use std::ops::Deref;

/// Entries row by row, of `D` axes. It reads like a slice.
#[derive(Clone, Debug)]
pub struct Array<T, const D: usize> {
    pub(crate) entries: Vec<T>,
    pub(crate) shape: [usize; D],
}

impl<T, const D: usize> Default for Array<T, D> {
    fn default() -> Self {
        Array { entries: Vec::new(), shape: [0; D] }
    }
}

impl<T, const D: usize> Deref for Array<T, D> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<T> Array<T, 2> {
    /// As many rows of this width as there are.
    pub(crate) fn rows(entries: Vec<T>, width: usize) -> Self {
        let shape = [entries.len().checked_div(width).unwrap_or(0), width];
        Array { entries, shape }
    }

    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[T] {
        &self.entries[row * self.shape[1]..(row + 1) * self.shape[1]]
    }
}
