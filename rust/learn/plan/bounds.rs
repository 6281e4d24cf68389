//! Values that a plan begins with: what never changing the action earns, and the fast informed bound.

use ndarray::{Array1, Array2};

use crate::error::Result;
use crate::learn::plan::model::Model;
use crate::parallel::Ticker;

/// Iterations end when values change by less than this share of the largest.
const TOLERANCE: f32 = 1e-5;

/// Iterations of the fast informed bound; it need not converge, since it only leads the first walks.
const INFORMED: usize = 60;

/// (actions, states): what an action earns that is repeated for ever. A lower bound at every iteration.
pub(super) fn blind(model: &Model, ticker: &Ticker) -> Result<Array2<f32>> {
    let worst = model.rewards.iter().copied().fold(0.0f32, f32::min) / (1.0 - model.discount);
    let mut values = Array2::from_elem(model.rewards.dim(), worst);
    converge(&mut values, ticker, |values, new| {
        for action in 0..model.n_actions() {
            let later = model.transitions[action].dot(&values.row(action));
            new.row_mut(action).assign(&(&model.rewards.row(action) + &(later * model.discount)));
        }
    })?;
    Ok(values)
}

/// (actions, states): an upper bound of what an action earns in a state (fast informed bound), begun at the values of
/// states that are known (QMDP).
pub(super) fn informed(model: &Model, ticker: &Ticker) -> Result<Array2<f32>> {
    let mut values = Array2::zeros(model.rewards.dim());
    converge(&mut values, ticker, |values, new| {
        let best = values.fold_axis(ndarray::Axis(0), f32::NEG_INFINITY, |best, &value| best.max(value));
        for action in 0..model.n_actions() {
            let later = model.transitions[action].dot(&best);
            new.row_mut(action).assign(&(&model.rewards.row(action) + &(later * model.discount)));
        }
    })?;
    for _ in 0..INFORMED {
        ticker.check()?;
        let mut new = model.rewards.clone();
        for action in 0..model.n_actions() {
            let mut later: Array1<f32> = Array1::zeros(model.n_states());
            for emission in model.emissions(action) {
                let states = model.shown(emission);
                let count = states.len();
                let mut shown = Array2::zeros((count, model.n_actions()));
                let mut reached = Array2::zeros((model.n_states(), count));
                for (place, (state, prob)) in states.into_iter().enumerate() {
                    shown.row_mut(place).assign(&(&values.column(state) * prob));
                    reached.column_mut(place).assign(&model.transitions[action].column(state));
                }
                let by_action = reached.dot(&shown);
                for (sum, row) in later.iter_mut().zip(by_action.rows()) {
                    *sum += row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                }
            }
            new.row_mut(action).scaled_add(model.discount, &later);
        }
        values.zip_mut_with(&new, |old, &new| *old = old.min(new));
    }
    Ok(values)
}

/// Applies `step` until values settle.
fn converge(
    values: &mut Array2<f32>,
    ticker: &Ticker,
    mut step: impl FnMut(&Array2<f32>, &mut Array2<f32>),
) -> Result<()> {
    let mut new = Array2::zeros(values.dim());
    loop {
        ticker.check()?;
        step(values, &mut new);
        let largest = new.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let change = values.iter().zip(&new).fold(0.0f32, |change, (old, new)| change.max((old - new).abs()));
        values.assign(&new);
        if change <= TOLERANCE * largest {
            return Ok(());
        }
    }
}
