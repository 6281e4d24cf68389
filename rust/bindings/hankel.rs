//! Hankel statistics: what is counted, and the sums as plain arrays.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, Whole, count, shaped, threads as thread_count};
use crate::bindings::job;
use crate::bindings::parts::attribute;
use crate::learn::spectral::cuts::Settings;
use crate::learn::spectral::double::{Double, Quantum};
use crate::learn::spectral::hankel::accumulate;
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{Occurrences, Word};
use crate::parts;

/// What is counted, from a `uqf.learn.spectral.basis.Counting`.
pub fn settings(counting: &Bound<'_, PyAny>) -> PyResult<Settings> {
    let (basis, target) = (counting.getattr("basis")?, counting.getattr("target")?);
    let occurrences = Occurrences::named(&attribute::<String>(&basis, "occurrences")?)?;
    let (discount, offset) = (attribute(&target, "discount")?, attribute(&target, "offset")?);
    let target = Target::named(&attribute::<String>(&target, "name")?, discount, offset)?;
    let quantum = Quantum::for_size(attribute(counting, "term_size")?);
    if let Some((prefixes, suffixes)) = attribute::<Option<(Vec<Word>, Vec<Word>)>>(counting, "words")? {
        return Ok(Settings::listed(occurrences, target, quantum, prefixes, suffixes)?);
    }
    let number = |name: &str| count(name, attribute(&basis, name)?);
    let longest = (number("max_prefix")?, number("max_suffix")?);
    let (kind, seed): (String, _) = (attribute(&basis, "projection")?, attribute(&basis, "seed")?);
    let projection = (kind.as_str(), number("prefix_dim")?, number("suffix_dim")?, seed);
    Ok(Settings::projected(occurrences, target, quantum, longest, projection)?)
}

/// Sums over episodes as the arrays of a `HankelSums`. Cells of the block, whose owner is −1, and of those of the symbols
/// stand one after the other.
#[pyfunction]
#[pyo3(signature = (data, counting, *, by_symbol=false, threads=None))]
pub fn hankel_sums<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    counting: &Bound<'py, PyAny>,
    by_symbol: bool,
    threads: Option<Whole<i64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (view, threads, settings) = (data.view()?, thread_count(threads)?, settings(counting)?);
    let sums = job::long(py, None, |ticker| accumulate(&view, &settings, by_symbol, threads, ticker))?;
    let (mut owners, mut offsets, mut keys, mut parts) = (vec![], vec![0], vec![], vec![]);
    let by_symbol = sums.symbol_blocks.iter().map(|(&symbol, cells)| (i64::from(symbol), cells));
    for (owner, cells) in std::iter::once((-1, &sums.block)).chain(by_symbol) {
        cells.for_each(|cell, sum| {
            if sum != Double::default() {
                keys.push(cell);
                parts.push(sum);
            }
        });
        owners.push(owner);
        offsets.push(keys.len() as i64);
    }
    let pairs = |sums: &[Double]| {
        shaped(py, sums.iter().flat_map(|sum| <[f64; 2]>::from(sum.parts())), [sums.len(), 2])
    };
    let [prefixes, suffixes] = sums.coverage;
    parts!(PyDict::new(py), {
        "shape": sums.shape(),
        "by_symbol": sums.by_symbol,
        "counts": (sums.episodes, sums.steps),
        "coverage": ((prefixes.known, prefixes.seen), (suffixes.known, suffixes.seen)),
        "owners": owners.into_pyarray(py),
        "offsets": offsets.into_pyarray(py),
        "keys": keys.into_pyarray(py),
        "parts": pairs(&parts)?,
        "column": pairs(&sums.column)?,
        "start": pairs(&sums.start)?,
        "average": pairs(&sums.average)?,
    })
}
