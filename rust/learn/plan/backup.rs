//! One step back: what actions are worth at beliefs, given vectors of what comes later.

use ndarray::{Array2, Array3, ArrayView1, Axis, Slice, concatenate};

use crate::learn::plan::model::Model;

/// Vectors by action, (actions, vectors, states).
pub struct Vectors(pub Array3<f32>);

impl Vectors {
    pub(super) fn none(n_actions: usize, n_states: usize) -> Self {
        Vectors(Array3::zeros((n_actions, 0, n_states)))
    }

    /// One vector for every action, (actions, states).
    pub(super) fn one_each(values: Array2<f32>) -> Self {
        Vectors(values.insert_axis(Axis(1)))
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Vectors(concatenate(Axis(1), &[self.0.view(), other.0.view()]).expect("as many states"))
    }

    pub(super) fn only(&self, places: &[usize]) -> Self {
        Vectors(self.0.select(Axis(1), places))
    }

    /// Without those that are no action's best at any of these beliefs.
    pub(super) fn best_at_any(&self, points: &Array2<f32>) -> Self {
        let mut used = vec![false; self.0.dim().1];
        for own in self.0.outer_iter() {
            points.dot(&own.t()).rows().into_iter().for_each(|row| used[argmax(&row)] = true);
        }
        self.only(&(0..used.len()).filter(|&place| used[place]).collect::<Vec<_>>())
    }

    pub(super) fn of(&self, action: usize, place: usize) -> ArrayView1<'_, f32> {
        self.0.index_axis(Axis(0), action).index_axis_move(Axis(0), place)
    }

    /// (the best action by the vectors of one place, what it is worth)
    pub(super) fn best_at(&self, place: usize, belief: &ArrayView1<f32>) -> (usize, f32) {
        let worths = self.0.index_axis(Axis(1), place).dot(belief);
        let best = argmax(&worths.view());
        (best, worths[best])
    }

    /// At every belief the action whose largest product is largest.
    pub(super) fn best_actions(&self, beliefs: &Array2<f32>) -> Vec<usize> {
        let mut best = vec![(0, f32::NEG_INFINITY); beliefs.nrows()];
        for (action, own) in self.0.outer_iter().enumerate() {
            for (best, row) in best.iter_mut().zip(beliefs.dot(&own.t()).rows()) {
                let worth = max(&row);
                if worth > best.1 {
                    *best = (action, worth);
                }
            }
        }
        best.into_iter().map(|(action, _)| action).collect()
    }
}

/// Vectors of what comes later, multiplied by what their states show: prepared once for many backups.
pub(super) struct Later<'a> {
    model: &'a Model,
    /// By emissions of an action (or of all), then by observation: (vectors, states that may show it).
    weighted: Vec<Vec<Array2<f32>>>,
}

impl<'a> Later<'a> {
    pub(super) fn new(model: &'a Model, values: &Array2<f32>) -> Self {
        let weighted = model.emissions.iter().map(|shown| {
            let one = shown.iter().map(|emission| {
                let mut part =
                    emission.states.as_ref().map_or_else(|| values.clone(), |states| columns(values, states));
                for mut row in part.rows_mut() {
                    row.iter_mut().zip(&emission.probs).for_each(|(value, p)| *value *= p);
                }
                part
            });
            one.collect()
        });
        Later { model, weighted: weighted.collect() }
    }

    /// The vectors of all actions at some beliefs (points, states).
    pub(super) fn backup(&self, points: &Array2<f32>) -> Vectors {
        let (model, (count, n_states)) = (self.model, points.dim());
        let n_actions = model.n_actions();
        let mut predicted = Array2::zeros((n_actions * count, n_states));
        for (action, transitions) in model.transitions.iter().enumerate() {
            let own = Slice::from(action * count..(action + 1) * count);
            predicted.slice_axis_mut(Axis(0), own).assign(&points.dot(transitions));
        }
        let mut later = Array2::<f32>::zeros(predicted.dim());
        let rows = n_actions * count / self.weighted.len();
        for (number, (weighted, shown)) in self.weighted.iter().zip(&model.emissions).enumerate() {
            let own = Slice::from(number * rows..(number + 1) * rows);
            let reached = predicted.slice_axis(Axis(0), own).to_owned();
            let mut sums = later.slice_axis_mut(Axis(0), own);
            for (part, emission) in weighted.iter().zip(shown) {
                let products = match &emission.states {
                    None => reached.dot(&part.t()),
                    Some(states) => columns(&reached, states).dot(&part.t()),
                };
                for (mut sum, row) in sums.rows_mut().into_iter().zip(products.rows()) {
                    let best = part.row(argmax(&row));
                    match &emission.states {
                        None => sum += &best,
                        Some(states) => {
                            states.iter().zip(best).for_each(|(&state, value)| sum[state] += value);
                        }
                    }
                }
            }
        }
        let mut vectors = Array3::zeros((n_actions, count, n_states));
        for (action, mut own) in vectors.outer_iter_mut().enumerate() {
            let later = later.slice_axis(Axis(0), Slice::from(action * count..(action + 1) * count));
            own.assign(&(later.dot(&model.transitions[action].t()) * model.discount));
            own += &model.rewards.row(action);
        }
        Vectors(vectors)
    }
}

/// Some columns of a matrix.
fn columns(matrix: &Array2<f32>, chosen: &[usize]) -> Array2<f32> {
    let mut part = Vec::with_capacity(matrix.nrows() * chosen.len());
    for row in matrix.rows() {
        let row = row.to_slice().expect("rows lie in memory one after the other");
        part.extend(chosen.iter().map(|&column| row[column]));
    }
    Array2::from_shape_vec((matrix.nrows(), chosen.len()), part).expect("as many as there are")
}

/// Numbers that are compared side by side.
const LANES: usize = 8;

pub(super) fn max(row: &ArrayView1<f32>) -> f32 {
    let larger = |one: f32, other: f32| if other > one { other } else { one };
    let Some(row) = row.to_slice() else {
        return row.iter().copied().fold(f32::NEG_INFINITY, larger);
    };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut chunks = row.chunks_exact(LANES);
    for chunk in &mut chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &value)| *lane = larger(*lane, value));
    }
    lanes.iter().chain(chunks.remainder()).copied().fold(f32::NEG_INFINITY, larger)
}

/// The first place of the largest number.
pub(super) fn argmax(row: &ArrayView1<f32>) -> usize {
    let largest = max(row);
    row.iter().position(|&value| value == largest).unwrap_or(0)
}
