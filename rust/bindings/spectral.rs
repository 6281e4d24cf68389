//! What is counted over episodes: words, Hankel sums, operators, contexts; and the states of filters.

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Cube, Matrix, Vector, Whole, count, in_rows, large, shaped, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::attribute;
use crate::learn::contexts;
use crate::learn::spectral::cuts::Settings;
use crate::learn::spectral::double::{Double, Quantum};
use crate::learn::spectral::filter::Filter;
use crate::learn::spectral::hankel::accumulate;
use crate::learn::spectral::operators::{self, ReducedMaps};
use crate::learn::spectral::projection::{Kind, Projection};
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{self, Occurrences, Word};
use crate::parts;
use crate::policies::context::MAX_DEPTH;

#[pyfunction]
#[pyo3(signature = (data, *, occurrences, max_length, limit=None))]
pub fn most_frequent(
    py: Python<'_>,
    data: Arrays<'_>,
    occurrences: &str,
    max_length: i64,
    limit: Option<i64>,
) -> PyResult<(Vec<Word>, Vec<u64>)> {
    let view = data.view()?;
    let max_length = count("max_length", max_length)?;
    let limit = limit.map(|limit| count("limit", limit)).transpose()?;
    let ranked = job::quick(py, || {
        Ok(words::most_frequent(&view, Occurrences::named(occurrences)?, max_length, limit))
    })?;
    Ok(ranked.into_iter().unzip())
}

#[pyfunction]
pub fn project_words<'py>(
    py: Python<'py>,
    words: Vec<Word>,
    kind: &str,
    dim: usize,
    seed: u64,
) -> PyResult<Matrix<'py>> {
    let projection = Projection::new("dim", Kind::named(kind)?, dim, seed)?;
    let mut rows = Vec::with_capacity(words.len() * dim);
    for word in &words {
        let bytes: Vec<u8> = word.iter().flat_map(|symbol| symbol.to_le_bytes()).collect();
        rows.extend(projection.vector(projection.key(&bytes)));
    }
    shaped(py, rows, [words.len(), dim])
}

/// What is counted, from a `uqf.learn.spectral.basis.Counting`.
fn settings(counting: &Bound<'_, PyAny>) -> PyResult<Settings> {
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
    let of_symbols = sums.symbol_blocks.iter().map(|(&symbol, cells)| (i64::from(symbol), cells));
    for (owner, cells) in std::iter::once((-1, &sums.block)).chain(of_symbols) {
        cells.for_each(|cell, sum| {
            keys.push(cell);
            parts.push(sum);
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
        "by_symbol": by_symbol,
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

#[pyfunction]
#[pyo3(signature = (data, counting, left_map, right_map, *, threads=None))]
pub fn sum_operators<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    counting: &Bound<'py, PyAny>,
    left_map: PyReadonlyArray2<'py, f64>,
    right_map: PyReadonlyArray2<'py, f64>,
    threads: Option<Whole<i64>>,
) -> PyResult<(Vector<'py, i64>, Cube<'py>)> {
    let rank = left_map.shape()[1];
    let (left, right) = (in_rows(&left_map)?, in_rows(&right_map)?);
    let maps = ReducedMaps { rank, left: &left, right: &right };
    let (view, threads, settings) = (data.view()?, thread_count(threads)?, settings(counting)?);
    let summed =
        job::long(py, None, |ticker| operators::operators(&view, &settings, &maps, threads, ticker))?;
    let (symbols, shape) = (large(py, summed.keys().copied()), [summed.len(), rank, rank]);
    Ok((symbols, shaped(py, summed.into_values().flatten(), shape)?))
}

type Tree<'py> = (Vector<'py, i64>, Vector<'py, i64>, Vector<'py, i64>);

#[pyfunction]
pub fn context_tree<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    depth: usize,
    min_count: u32,
    max_nodes: usize,
) -> PyResult<Tree<'py>> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("depth = {depth}: give 0 to {MAX_DEPTH} symbols")));
    }
    let view = data.view()?;
    let tree = job::quick(py, || Ok(contexts::tree(&view, depth, min_count, max_nodes)))?;
    let (parents, symbols): (Vec<u32>, Vec<u32>) = tree.edges.into_iter().unzip();
    Ok((large(py, parents), large(py, symbols), large(py, tree.at_cuts)))
}

#[pyfunction]
#[pyo3(signature = (operators, reach, places, offsets, starts, *, backward=false, threads=None))]
pub fn filter_states<'py>(
    py: Python<'py>,
    operators: PyReadonlyArray3<'py, f32>,
    reach: f32,
    places: PyReadonlyArray1<'py, i32>,
    offsets: PyReadonlyArray1<'py, i64>,
    starts: PyReadonlyArray2<'py, f32>,
    backward: bool,
    threads: Option<Whole<i64>>,
) -> PyResult<Matrix<'py, f32>> {
    let filter = Filter::new(operators.shape()[2], &in_rows(&operators)?, reach)?;
    let (starts, threads, width) = (in_rows(&starts)?, thread_count(threads)?, 1 + filter.rank());
    let (places, offsets) = (places.as_slice()?, offsets.as_slice()?);
    let rows =
        job::long(py, None, |ticker| filter.along(places, offsets, &starts, backward, threads, ticker))?;
    let count = rows.len() / width;
    shaped(py, rows, [count, width])
}
