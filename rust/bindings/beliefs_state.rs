//! Cloned hidden Markov models as plain arrays and back: how they are sent to other machines.

use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{aligned, field};
use crate::learn::beliefs::CloneModel;
use crate::learn::beliefs::events::{RewardClasses, Tasks};
use crate::learn::beliefs::layout::Layout;
use crate::parts;

/// The models as plain arrays.
pub fn to_state<'py>(py: Python<'py>, models: &[CloneModel], tasks: &Tasks) -> PyResult<Bound<'py, PyDict>> {
    let layout = &models[0].layout;
    let listed = |tables: fn(&CloneModel) -> &Vec<f32>| {
        models.iter().map(|model| tables(model).clone().into_pyarray(py)).collect::<Vec<_>>()
    };
    let classes = (0..tasks.count()).map(|task| tasks.classes(task));
    parts!(PyDict::new(py), {
        "sizes": (layout.n_states, layout.n_kinds, layout.n_events, layout.n_shown, layout.n_tasks),
        "codes": layout.codes.clone(),
        "ranges": layout.ranges.clone(),
        "kinds": layout.kinds.clone(),
        "shared": layout.shared,
        "opens": layout.opens,
        "starts": listed(|model| &model.start),
        "transitions": listed(|model| &model.transitions),
        "events": listed(|model| &model.events),
        "log_likelihoods": models.iter().map(|model| model.log_likelihood).collect::<Vec<_>>(),
        "classes": classes.map(|one| (one.edges().to_vec(), one.means().to_vec())).collect::<Vec<_>>(),
        "counts": tasks.counts().to_vec(),
    })
}

/// The models of such arrays; refused where sizes do not fit.
pub fn from_state(state: &Bound<'_, PyDict>) -> PyResult<(Vec<CloneModel>, Tasks)> {
    let field = |name: &str| field(state, "models", name);
    let (n_states, n_kinds, n_events, n_shown, n_tasks) = field("sizes")?.extract()?;
    let layout = Arc::new(Layout {
        n_states,
        ranges: field("ranges")?.extract()?,
        kinds: field("kinds")?.extract()?,
        codes: field("codes")?.extract()?,
        n_kinds,
        n_events,
        n_shown,
        n_tasks,
        shared: field("shared")?.extract()?,
        opens: field("opens")?.extract()?,
    });
    let kinds = layout.kinds.iter().all(|&kind| (kind as usize) < n_kinds);
    let ranges = layout.ranges.iter().all(|&(low, high)| low <= high && high as usize <= n_states);
    let codes = layout.codes.iter().all(|&code| (code as usize) < n_shown);
    if !kinds || !ranges || !codes || layout.codes.len() != layout.ranges.len() {
        return Err(PyValueError::new_err("models: kinds, ranges or codes go beyond their tables"));
    }
    let tables = |name: &str, size: usize| -> PyResult<Vec<Vec<f32>>> {
        let listed: Vec<Bound<'_, PyAny>> = field(name)?.extract()?;
        let mut found = Vec::new();
        for array in listed {
            let table = aligned::<f32>(&array)?;
            if table.as_slice()?.len() != size {
                return Err(PyValueError::new_err(format!("{name}: a table does not have {size} entries")));
            }
            found.push(table.as_slice()?.to_vec());
        }
        Ok(found)
    };
    let starts = tables("starts", n_states)?;
    let transitions = tables("transitions", n_kinds * n_states * n_states)?;
    let events = tables("events", n_tasks * n_kinds * layout.n_rows() * n_states)?;
    let likelihoods: Vec<f64> = field("log_likelihoods")?.extract()?;
    let counts = [transitions.len(), events.len(), likelihoods.len()];
    if starts.is_empty() || counts.iter().any(|&count| count != starts.len()) {
        return Err(PyValueError::new_err("models: as many of each table are needed, at least one"));
    }
    let parts = starts.into_iter().zip(transitions).zip(events).zip(likelihoods);
    let models = parts
        .map(|(((start, transitions), events), log_likelihood)| CloneModel {
            layout: layout.clone(),
            start,
            transitions,
            events,
            log_likelihood,
        })
        .collect();
    let classes: Vec<(Vec<f64>, Vec<f64>)> = field("classes")?.extract()?;
    let fit = |(edges, means): &(Vec<f64>, Vec<f64>)| {
        !edges.is_empty() && edges.len() == means.len() && 2 * edges.len() <= n_events
    };
    if classes.len() != n_tasks || !classes.iter().all(fit) {
        return Err(PyValueError::new_err("models: the classes of rewards do not fit the events"));
    }
    let classes = classes.into_iter().map(|(edges, means)| RewardClasses::new(edges, means)).collect();
    Ok((models, Tasks::from_parts(classes, field("counts")?.extract()?)))
}
