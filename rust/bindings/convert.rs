//! Arrays and numbers on their way in and out.

use std::borrow::Cow;

use numpy::ndarray::{Dimension, IntoDimension, Ix1};
use numpy::{
    Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray,
    PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::reserve::copied;
use crate::trajectories::{Columns, Trajectories, View};

/// Arrays on their way out, of numbers as Python has them unless said otherwise.
pub type Vector<'py, T = f64> = Bound<'py, PyArray1<T>>;
pub type Matrix<'py, T = f64> = Bound<'py, PyArray2<T>>;
pub type Cube<'py, T = f64> = Bound<'py, PyArray3<T>>;

/// A whole number of Python; one that does not fit is a `ValueError` as any other wrong argument.
pub struct Whole<T>(pub T);

impl<'a, 'py, T: FromPyObject<'a, 'py, Error = PyErr>> FromPyObject<'a, 'py> for Whole<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.extract::<T>().map(Whole).map_err(|error: PyErr| {
            if !error.is_instance_of::<PyOverflowError>(given.py()) {
                return error;
            }
            PyValueError::new_err(format!(
                "{} is no whole number of 64 bits in the range of this argument",
                given.to_owned()
            ))
        })
    }
}

/// The arrays of a data set, borrowed from Python for the length of a call.
pub struct Arrays<'py>(Fields<'py>);

impl<'a, 'py> FromPyObject<'a, 'py> for Arrays<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Arrays).map_err(|error| {
            if !error.is_instance_of::<PyAttributeError>(given.py()) {
                return error;
            }
            let kind = given.get_type();
            PyTypeError::new_err(format!("data is a {kind}: give uqf.Trajectories (see uqf.read_log)"))
        })
    }
}

#[derive(FromPyObject)]
struct Fields<'py> {
    actions: PyReadonlyArray1<'py, i32>,
    observations: PyReadonlyArray1<'py, i32>,
    rewards: PyReadonlyArray1<'py, f64>,
    offsets: PyReadonlyArray1<'py, i64>,
    behavior_probs: Option<PyReadonlyArray1<'py, f64>>,
    terminated: PyReadonlyArray1<'py, bool>,
    first_observations: Option<PyReadonlyArray1<'py, i32>>,
    #[pyo3(default)]
    columns: Option<PyReadonlyArray2<'py, f32>>,
    #[pyo3(default)]
    first_columns: Option<PyReadonlyArray2<'py, f32>>,
    n_actions: usize,
    n_observations: usize,
}

impl Arrays<'_> {
    pub fn view(&self) -> PyResult<View<'_>> {
        Ok(View {
            actions: self.0.actions.as_slice()?,
            observations: self.0.observations.as_slice()?,
            rewards: self.0.rewards.as_slice()?,
            offsets: self.0.offsets.as_slice()?,
            behavior_probs: self.0.behavior_probs.as_ref().map(|probs| probs.as_slice()).transpose()?,
            terminated: self.0.terminated.as_slice()?,
            first_observations: self
                .0
                .first_observations
                .as_ref()
                .map(|first| first.as_slice())
                .transpose()?,
            n_actions: self.0.n_actions,
            n_observations: self.0.n_observations,
        })
    }

    /// Raw columns, where the data have any.
    pub fn columns(&self) -> PyResult<Option<Columns<'_>>> {
        let Some(columns) = &self.0.columns else { return Ok(None) };
        let first = self.0.first_columns.as_ref().map(|first| first.as_slice()).transpose()?;
        Ok(Some(Columns { values: columns.as_slice()?, first, width: columns.shape()[1] }))
    }
}

/// (actions, observations, rewards, behavior_probs, offsets, terminated, first_observations or None), moved without a
/// copy.
pub fn trajectories_to_python(py: Python<'_>, data: Trajectories) -> PyResult<Bound<'_, PyTuple>> {
    (
        data.actions.into_pyarray(py),
        data.observations.into_pyarray(py),
        data.rewards.into_pyarray(py),
        data.behavior_probs.into_pyarray(py),
        data.offsets.into_pyarray(py),
        data.terminated.into_pyarray(py),
        (!data.first_observations.is_empty()).then(|| data.first_observations.into_pyarray(py)),
    )
        .into_pyobject(py)
}

/// The entries of an array row by row. `as_slice` would take one that lies in memory column by column, such as a
/// transposed one, in that order.
pub fn in_rows<'a, T, D>(array: &'a PyReadonlyArray<'_, T, D>) -> PyResult<Cow<'a, [T]>>
where
    T: Element + Copy,
    D: Dimension,
{
    if array.is_c_contiguous() {
        Ok(Cow::Borrowed(array.as_slice()?))
    } else {
        Ok(Cow::Owned(array.as_array().iter().copied().collect()))
    }
}

/// A copy of the entries of an array row by row; too little memory for it is an exception.
pub fn owned<D: Dimension>(array: &PyReadonlyArray<'_, f64, D>) -> PyResult<Vec<f64>> {
    match in_rows(array)? {
        Cow::Borrowed(entries) => Ok(copied(entries, "a copy of an array")?),
        Cow::Owned(entries) => Ok(entries),
    }
}

/// Entries row by row as an array of this shape.
pub fn shaped<T: Element, D: IntoDimension>(
    py: Python<'_>,
    entries: impl IntoIterator<Item = T>,
    shape: D,
) -> PyResult<Bound<'_, PyArray<T, D::Dim>>> {
    collected(py, entries).reshape(shape)
}

/// Entries as an array.
pub fn collected<T: Element>(py: Python<'_>, entries: impl IntoIterator<Item = T>) -> Bound<'_, PyArray1<T>> {
    entries.into_iter().collect::<Vec<T>>().into_pyarray(py)
}

/// Numbers of the core as integers of Python.
pub fn large(py: Python<'_>, numbers: impl IntoIterator<Item = u32>) -> Bound<'_, PyArray1<i64>> {
    collected(py, numbers.into_iter().map(i64::from))
}

/// Refuses data of other alphabets than `what` has.
pub fn same_alphabets(what: &str, view: &View<'_>, actions: usize, observations: usize) -> PyResult<()> {
    if (view.n_actions, view.n_observations) == (actions, observations) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("data and {what} have different actions or observations")))
}

/// An entry of the state that something was pickled as; `what` it is.
pub fn field<'py>(state: &Bound<'py, PyDict>, what: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    state.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("{what} without {name}")))
}

/// The array row by row. Those that came over a network may begin anywhere in memory: they are copied.
pub fn aligned<'py, T: Element, D: Dimension>(
    array: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let array =
        array.py().import("numpy")?.call_method1("require", (array, array.py().None(), ["C", "A"]))?;
    array.extract()
}

/// The entries of a list of numbers.
pub fn numbers<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(aligned::<T, Ix1>(array)?.as_slice()?.to_vec())
}

/// A count that Python may have given as a negative or absurd number.
pub fn count(name: &str, given: i64) -> PyResult<usize> {
    usize::try_from(given)
        .map_err(|_| PyValueError::new_err(format!("{name} = {given}: give a positive number")))
}

/// An action, observation or symbol that Python gave, if there is such a one.
pub fn below(name: &str, given: i64, limit: usize) -> PyResult<usize> {
    let checked = usize::try_from(given).ok().filter(|&value| value < limit);
    let message = || format!("{name} = {given}: choose 0 to {}", limit.saturating_sub(1));
    checked.ok_or_else(|| PyValueError::new_err(message()))
}

/// The number of threads to use: as given, or what the machine has.
pub fn threads(given: Option<Whole<i64>>) -> PyResult<usize> {
    const MAX: i64 = 1024;
    match given.map(|given| given.0) {
        None => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        Some(n @ 1..=MAX) => Ok(n as usize),
        Some(n) => {
            Err(PyValueError::new_err(format!("threads = {n}: give 1 to {MAX}, or None for all cores")))
        }
    }
}
