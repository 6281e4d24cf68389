//! Beliefs that are met when a plan is followed in its own model.

use ndarray::{Array1, Array2, ArrayView1, Axis};

use crate::learn::plan::backup::Vectors;
use crate::learn::plan::model::Model;
use crate::rng::Rng;

/// Beliefs of `walks` episodes of at most `horizon` steps, which go side by side. An action is that of the plan, or with
/// the probability `explore` any.
pub(super) fn walk(
    model: &Model,
    plan: Option<&Vectors>,
    walks: usize,
    horizon: usize,
    explore: f64,
    rng: &mut Rng,
) -> Vec<Array1<f32>> {
    let total: f64 = model.start_probs.iter().sum();
    let starts: Vec<usize> = (0..walks).map(|_| rng.choose(&model.start_probs, total)).collect();
    let mut beliefs: Vec<Array1<f32>> =
        starts.iter().map(|&start| model.starts.row(start).to_owned()).collect();
    let mut met = Vec::new();
    for _ in 0..horizon {
        let mut rows = Array2::zeros((beliefs.len(), model.n_states()));
        rows.rows_mut().into_iter().zip(&beliefs).for_each(|(mut row, belief)| row.assign(belief));
        met.append(&mut beliefs);
        let planned = plan.map(|plan| plan.best_actions(&rows));
        let action = |place: usize| match &planned {
            Some(planned) if !rng.chance(explore) => planned[place],
            _ => rng.below(model.n_actions()),
        };
        let actions: Vec<usize> = (0..rows.nrows()).map(action).collect();
        let next = predicted(model, &rows, &actions);
        beliefs.extend(
            actions.iter().zip(next.rows()).filter_map(|(&action, next)| observed(model, action, next, rng)),
        );
    }
    met
}

/// The states that follow actions at beliefs (beliefs, states), unnormalised: their sum is the probability of going on.
fn predicted(model: &Model, beliefs: &Array2<f32>, actions: &[usize]) -> Array2<f32> {
    let mut next = Array2::zeros(beliefs.dim());
    for (action, transitions) in model.transitions.iter().enumerate() {
        let own: Vec<usize> = (0..actions.len()).filter(|&place| actions[place] == action).collect();
        let reached = beliefs.select(Axis(0), &own).dot(transitions);
        own.iter().zip(reached.rows()).for_each(|(&place, row)| next.row_mut(place).assign(&row));
    }
    next
}

/// The belief after an observation that is drawn from what is predicted; None if the episode ends.
fn observed(model: &Model, action: usize, next: ArrayView1<f32>, rng: &mut Rng) -> Option<Array1<f32>> {
    let probs: Vec<f64> = model.emissions(action).iter().map(|shown| f64::from(shown.prob(next))).collect();
    let going: f64 = probs.iter().sum();
    if going < 1e-6 || rng.uniform() >= going {
        return None;
    }
    let seen = rng.choose(&probs, going);
    let mut belief = Array1::zeros(next.len());
    for (state, p) in model.shown(&model.emissions(action)[seen]) {
        belief[state] = next[state] * p / probs[seen] as f32;
    }
    Some(belief)
}
