//! Beliefs that are met when a plan is followed in its own model.

use ndarray::Array1;

use crate::learn::plan::backup::Vectors;
use crate::learn::plan::model::Model;
use crate::rng::Rng;

/// Beliefs of `walks` episodes of at most `horizon` steps. An action is that of the plan, or with the probability
/// `explore` any.
pub(super) fn walk(
    model: &Model,
    plan: Option<&Vectors>,
    walks: usize,
    horizon: usize,
    explore: f64,
    rng: &mut Rng,
) -> Vec<Array1<f32>> {
    let mut met = Vec::new();
    let total: f64 = model.start_probs.iter().sum();
    for _ in 0..walks {
        let start = rng.choose(&model.start_probs, total);
        let mut belief = model.starts.row(start).to_owned();
        for _ in 0..horizon {
            met.push(belief.clone());
            let action = match plan {
                Some(plan) if !rng.chance(explore) => plan.best_action(&belief.view()),
                _ => rng.below(model.n_actions()),
            };
            let next = model.predicted(belief.view(), action);
            match observed(model, action, &next, rng) {
                Some(shown) => belief = shown,
                None => break,
            }
        }
    }
    met
}

/// The belief after an observation that is drawn from what is predicted; None if the episode ends.
fn observed(model: &Model, action: usize, next: &Array1<f32>, rng: &mut Rng) -> Option<Array1<f32>> {
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
