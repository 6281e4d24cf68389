//! Long calls: the interpreter is released, Ctrl-C is heard, progress is reported, panics become errors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::parallel::Ticker;

/// How long the waiting thread sleeps between looks at Ctrl-C and the progress callback.
const PATIENCE: Duration = Duration::from_millis(50);

/// The exception of an error; so `?` carries both kinds to Python.
impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        let message = error.to_string();
        match error {
            Error::Numerical(_) => Python::attach(|py| {
                let kind = py.import("uqf.errors").and_then(|errors| errors.getattr("NumericalError"));
                kind.and_then(|kind| kind.call1((message,))).map_or_else(|failed| failed, PyErr::from_value)
            }),
            Error::Memory { .. } => PyMemoryError::new_err(message),
            Error::Internal(_) => PyRuntimeError::new_err(message),
            _ => PyValueError::new_err(message),
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(std::string::ToString::to_string));
        Err(Error::Internal(text.unwrap_or_else(|| "panic without a message".into())))
    })
}

/// A short call: released interpreter, panics caught.
pub fn quick<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    Ok(py.detach(|| guarded(work))?)
}

/// A call that may take long: it works on a thread of its own, while this one listens for Ctrl-C and calls
/// `progress(done)`, at most twenty times a second.
pub fn long<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Ticker) -> Result<T> + Send,
) -> PyResult<T> {
    let (mut work, mut result) = (Some(work), None);
    watched(py, progress, &mut |ticker| {
        result = work.take().map(|work| work(ticker)).transpose()?;
        Ok(())
    })?;
    Ok(result.expect("the work was done"))
}

/// `long` for all kinds of results: threads and their scope are compiled once.
fn watched(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: &mut (dyn FnMut(&Ticker) -> Result<()> + Send),
) -> PyResult<()> {
    let ticker = Ticker::default();
    let waiting = thread::current();
    // Set before waking up: `is_finished` would still say no at that moment, and cost another round of patience.
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .spawn_scoped(scope, || {
                let result = guarded(|| work(&ticker));
                finished.store(true, Ordering::Release);
                waiting.unpark();
                result
            })
            .map_err(|_| Error::Memory { what: "a thread", entries: 1 })?;
        let (mut stopped, mut over) = (None, false);
        // Progress is reported once more at the end, and at least then: a quick call may be over before the first look.
        while !over {
            over = finished.load(Ordering::Acquire);
            if !over {
                py.detach(|| thread::park_timeout(PATIENCE));
            }
            let heard = py.check_signals().and_then(|()| match progress {
                Some(callback) if stopped.is_none() => callback.call1((ticker.done(),)).map(|_| ()),
                _ => Ok(()),
            });
            if let Err(reason) = heard {
                ticker.cancel();
                stopped.get_or_insert(reason);
            }
        }
        let result = worker.join().unwrap_or_else(|_| Err(Error::Internal("a worker thread died".into())));
        stopped.map_or_else(|| Ok(result?), Err)
    })
}
