//! Memory for what a file or a caller needs: where there is none, an error rather than the end of the process.

use crate::error::{Error, Result};

/// Reserves memory for `count` more entries; `what` they are is named in the error.
pub fn reserve<T>(vector: &mut Vec<T>, count: usize, what: &'static str) -> Result<()> {
    vector.try_reserve(count).map_err(|_| Error::Memory { what, entries: vector.len().saturating_add(count) })
}

/// `count` times the same value.
pub fn filled<T: Clone>(count: usize, value: T, what: &'static str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    reserve(&mut vector, count, what)?;
    vector.resize(count, value);
    Ok(vector)
}

/// The same entries once more.
pub fn copied<T: Copy>(entries: &[T], what: &'static str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    reserve(&mut vector, entries.len(), what)?;
    vector.extend_from_slice(entries);
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_an_error() {
        let message = filled(usize::MAX / 16, 0.0, "the table").unwrap_err().to_string();
        assert!(message.starts_with("the table needs memory for 1152921504606846975 entries"), "{message}");
        assert_eq!(copied(&[1, 2], "two numbers").unwrap(), [1, 2]);
    }
}
