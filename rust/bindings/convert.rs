//! Arrays and numbers on their way in and out.

use std::borrow::Cow;

use numpy::ndarray::{Dimension, IntoDimension, Ix1, Ix2, Ix3};
use numpy::{
    Element, IntoPyArray, PyArray, PyArray1, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1,
    PyUntypedArrayMethods,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::memory::copied;
use crate::policies::array::Array;
use crate::recorded::Trajectories;
use crate::trajectories::View;

/// The arrays of a data set, borrowed from Python for the length of a call.
#[derive(FromPyObject)]
pub struct Arrays<'py> {
    actions: PyReadonlyArray1<'py, i32>,
    observations: PyReadonlyArray1<'py, i32>,
    rewards: PyReadonlyArray1<'py, f64>,
    offsets: PyReadonlyArray1<'py, i64>,
    behavior_probs: Option<PyReadonlyArray1<'py, f64>>,
    terminated: PyReadonlyArray1<'py, bool>,
    first_observations: Option<PyReadonlyArray1<'py, i32>>,
    n_actions: usize,
    n_observations: usize,
}

impl Arrays<'_> {
    pub fn view(&self) -> PyResult<View<'_>> {
        Ok(View {
            actions: self.actions.as_slice()?,
            observations: self.observations.as_slice()?,
            rewards: self.rewards.as_slice()?,
            offsets: self.offsets.as_slice()?,
            behavior_probs: self.behavior_probs.as_ref().map(|probs| probs.as_slice()).transpose()?,
            terminated: self.terminated.as_slice()?,
            first_observations: self.first_observations.as_ref().map(|first| first.as_slice()).transpose()?,
            n_actions: self.n_actions,
            n_observations: self.n_observations,
        })
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

/// An argument of a policy on its way in and out: numbers as they are, lists and arrays by copy.
pub trait Part: Sized {
    /// What Python gives.
    type Given<'py>;

    fn take(given: Self::Given<'_>) -> PyResult<Self>;
    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

macro_rules! plain_parts {
    ($($kind:ty),*) => {$(
        impl Part for $kind {
            type Given<'py> = $kind;

            fn take(given: $kind) -> PyResult<Self> {
                Ok(given)
            }

            fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                self.into_bound_py_any(py)
            }
        }
    )*};
}

plain_parts!(bool, usize, f32, f64);

impl<P: Part> Part for Option<P> {
    type Given<'py> = Option<P::Given<'py>>;

    fn take(given: Self::Given<'_>) -> PyResult<Self> {
        given.map(P::take).transpose()
    }

    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|| Ok(py.None().into_bound(py)), |part| part.give(py))
    }
}

impl<P: Part, Q: Part> Part for (P, Q) {
    type Given<'py> = (P::Given<'py>, Q::Given<'py>);

    fn take(given: Self::Given<'_>) -> PyResult<Self> {
        Ok((P::take(given.0)?, Q::take(given.1)?))
    }

    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        (self.0.give(py)?, self.1.give(py)?).into_bound_py_any(py)
    }
}

impl<T: Element + Copy> Part for Vec<T> {
    type Given<'py> = PyReadonlyArray1<'py, T>;

    fn take(given: Self::Given<'_>) -> PyResult<Self> {
        numbers(given.as_any())
    }

    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.into_pyarray(py).into_bound_py_any(py)
    }
}

macro_rules! array_parts {
    ($($axes:literal: $shape:ty),*) => {$(
        impl<T: Element + Copy> Part for Array<T, $axes> {
            type Given<'py> = PyReadonlyArray<'py, T, $shape>;

            fn take(given: Self::Given<'_>) -> PyResult<Self> {
                let array = aligned::<T, $shape>(given.as_any())?;
                let shape = array.shape().try_into().expect("as many axes");
                Ok(Array { entries: array.as_slice()?.to_vec(), shape })
            }

            fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                self.entries.into_pyarray(py).reshape(self.shape)?.into_bound_py_any(py)
            }
        }
    )*};
}

array_parts!(2: Ix2, 3: Ix3);

/// A dictionary with more entries, such as the arguments that make a policy again.
#[macro_export]
macro_rules! parts {
    ($parts:expr, {$($name:literal: $value:expr),* $(,)?}) => {{
        let parts: Bound<'_, PyDict> = $parts;
        $(parts.set_item($name, $value)?;)*
        Ok(parts)
    }};
}

/// An entry of the state that something was pickled as; `what` it is.
pub fn field<'py>(state: &Bound<'py, PyDict>, what: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    state.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("{what} without {name}")))
}

/// The array row by row. Those that came over a network may begin anywhere in memory: they are copied.
fn aligned<'py, T: Element, D: Dimension>(array: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let array =
        array.py().import("numpy")?.call_method1("require", (array, array.py().None(), ["C", "A"]))?;
    Ok(array.extract()?)
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
pub fn threads(given: Option<i64>) -> PyResult<usize> {
    const MAX: i64 = 1024;
    match given {
        None => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        Some(n @ 1..=MAX) => Ok(n as usize),
        Some(n) => {
            Err(PyValueError::new_err(format!("threads = {n}: give 1 to {MAX}, or None for all cores")))
        }
    }
}
