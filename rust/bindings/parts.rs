//! Arguments of policies on their way in and out, and the class of a policy from the list of them.

use numpy::ndarray::{Ix2, Ix3};
use numpy::{
    Element, IntoPyArray, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::bindings::convert::{Whole, aligned, numbers};
use crate::policies::array::Array;
use crate::simulate::policy::After;

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

plain_parts!(bool, f32, f64);

impl Part for usize {
    type Given<'py> = Whole<usize>;

    fn take(given: Whole<usize>) -> PyResult<Self> {
        Ok(given.0)
    }

    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.into_bound_py_any(py)
    }
}

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

/// Which actions have support after which observations, given as `supported_after` and `supported_then`.
pub fn after(
    observations: Option<PyReadonlyArray1<'_, i64>>,
    actions: Option<PyReadonlyArray2<'_, bool>>,
) -> PyResult<Option<After>> {
    let parts: (Option<Vec<i64>>, Option<Array<bool, 2>>) = (Part::take(observations)?, Part::take(actions)?);
    match parts {
        (None, None) => Ok(None),
        (Some(observations), Some(actions)) if actions.shape[0] == observations.len() => {
            Ok(Some(After { observations, actions: actions.entries }))
        }
        _ => Err(PyValueError::new_err("supported_then: give a row of actions for each of supported_after")),
    }
}

/// The same as Python gives it.
pub fn after_parts(after: After) -> (Vec<i64>, Array<bool, 2>) {
    let width = after.actions.len() / after.observations.len();
    (after.observations, Array::rows(after.actions, width))
}

/// A dictionary with more entries, such as the arguments that make a policy again.
#[macro_export]
macro_rules! parts {
    ($parts:expr, {$($name:literal: $value:expr),* $(,)?}) => {{
        let parts: Bound<'_, PyDict> = $parts;
        $(parts.set_item($name, $value)?;)*
        Ok(parts)
    }};
}

/// The named fields of a struct as a dictionary.
#[macro_export]
macro_rules! fields {
    ($py:expr, $struct:expr, $($name:ident),*) => {{
        let (given, fields) = (PyDict::new($py), $struct);
        $(given.set_item(stringify!($name), fields.$name.give($py)?)?;)*
        Ok(given)
    }};
}

/// An attribute of a Python object; one of a wrong kind, or a number that does not fit, is named.
pub fn attribute<'py, T>(given: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let value = given.getattr(name)?;
    value.extract().map_err(|error: PyErr| {
        let shown = value.repr().map_or_else(|_| String::from("?"), |repr| repr.to_string());
        let text = format!("{name} = {shown}: {}", error.value(given.py()));
        match error.is_instance_of::<PyOverflowError>(given.py()) {
            true => PyValueError::new_err(text),
            false => PyTypeError::new_err(text),
        }
    })
}

/// A struct of settings, each from the attribute of that name that a Python object has; others are given after `+`.
#[macro_export]
macro_rules! settings {
    ($given:expr, $struct:ident { $($name:ident),* } $(+ { $($other:ident: $value:expr),* })?) => {
        $struct {
            $($name: $crate::bindings::parts::attribute(&$given, stringify!($name))?,)*
            $($($other: $value,)*)?
        }
    };
}

/// The class of a policy, from the names and kinds of its parts: constructor, `parts()` and getters.
///
/// `+ group: Struct { … }` are parts that the core keeps in a struct of their own. Every policy has a rule: `temperature`,
/// by default as given, and `supported`, overall and after some observations. More methods follow in braces.
#[macro_export]
macro_rules! policy {
    (
        $(#[$doc:meta])*
        $name:ident in $module:ident, temperature = $temperature:tt,
        ($($free:ident: $free_kind:ty),*),
        {
            $(+ $group:ident: $struct:ident { $($inner:ident: $inner_kind:ty $(= $inner_default:tt)?),* $(,)? },)*
            $($part:ident: $kind:ty $(= $default:tt)?),* $(,)?
        },
        get { $($shown:ident),* }
        $(, { $($more:tt)* })?
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
        pub struct $name {
            pub inner: Arc<$module::$name>,
        }

        impl $name {
            pub fn wrapped(inner: Arc<$module::$name>) -> PyClassInitializer<Self> {
                CompiledPolicy::of($crate::policies::near::acting(inner.clone()), $name { inner })
            }
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (
                $($free,)* *, $($($inner $(= $inner_default)?,)*)* $($part $(= $default)?,)*
                temperature = $temperature, supported = None, supported_after = None, supported_then = None
            ))]
            fn new(
                $($free: <$free_kind as Part>::Given<'_>,)*
                $($($inner: <$inner_kind as Part>::Given<'_>,)*)*
                $($part: <$kind as Part>::Given<'_>,)*
                temperature: f64,
                supported: Option<PyReadonlyArray1<'_, bool>>,
                supported_after: Option<PyReadonlyArray1<'_, i64>>,
                supported_then: Option<numpy::PyReadonlyArray2<'_, bool>>,
            ) -> PyResult<PyClassInitializer<Self>> {
                let supported = Part::take(supported)?;
                let parts = $module::Parts {
                    $($free: Part::take($free)?,)*
                    $($group: $module::$struct { $($inner: Part::take($inner)?),* },)*
                    $($part: Part::take($part)?,)*
                    rule: Rule { temperature, supported, after: $crate::bindings::parts::after(supported_after, supported_then)? },
                };
                Ok(Self::wrapped(Arc::new(Parted::new(parts)?)))
            }

            /// The arguments that make this policy again.
            fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let parts = self.inner.parts();
                let given = PyDict::new(py);
                $(given.set_item(stringify!($free), parts.$free.give(py)?)?;)*
                $($(given.set_item(stringify!($inner), parts.$group.$inner.give(py)?)?;)*)*
                $(given.set_item(stringify!($part), parts.$part.give(py)?)?;)*
                given.set_item("temperature", parts.rule.temperature)?;
                given.set_item("supported", parts.rule.supported.give(py)?)?;
                let (observations, actions) = parts.rule.after.map($crate::bindings::parts::after_parts).unzip();
                given.set_item("supported_after", observations.give(py)?)?;
                given.set_item("supported_then", actions.give(py)?)?;
                Ok(given)
            }

            $(
                #[getter]
                fn $shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.inner.parts.$shown.clone().give(py)
                }
            )*

            $($($more)*)?
        }
    };
}
