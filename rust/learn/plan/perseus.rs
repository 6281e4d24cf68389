//! Randomised point-based value iteration (Perseus: Spaan and Vlassis 2005), with the values of all actions.
//!
//! Beliefs are collected by walks in the model; a sweep backs up some of them at a time until the value of every one is
//! at least what it was. A backup keeps a vector for *every* action, not for the best alone, so that the plan can be
//! followed with chance, compared with others, or restricted to some actions.

use ndarray::{Array1, Array2, Axis, Slice};

use crate::error::Result;
use crate::learn::plan::backup::{Later, Vectors, argmax, max};
use crate::learn::plan::bounds::{blind, informed};
use crate::learn::plan::model::Model;
use crate::learn::plan::walk::walk;
use crate::parallel::Ticker;
use crate::rng::Rng;

/// How long is planned.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Beliefs that are backed up.
    pub points: usize,
    /// How often beliefs are collected anew, by walks that follow the plan so far.
    pub rounds: usize,
    /// Sweeps over the beliefs of a round, at most.
    pub sweeps: usize,
    /// Steps of a walk, at most.
    pub horizon: usize,
}

/// Beliefs that are backed up together: enough for a matrix product, few enough that later ones profit.
const BATCH: usize = 48;

/// Walks of a round, and the share of their steps that are not those of the plan.
const WALKS: usize = 200;
const EXPLORE: f64 = 0.2;

/// A sweep that improves no belief by more than this share of the largest value is the last of its round.
const TOLERANCE: f32 = 1e-4;

/// Beliefs of the last walk, at which the values of all actions are kept as well.
const LAST_POINTS: usize = 150;

/// What is planned: the worth of an action at a belief is its largest product with the vectors of the action.
pub struct Plan {
    /// (actions, vectors, states)
    pub vectors: Vectors,
    /// What the plan earns from the start, by its own model; a lower bound there.
    pub value: f64,
}

/// Plans in a model. The same seed gives the same bits.
pub fn plan(model: &Model, settings: &Settings, seed: u64, ticker: &Ticker) -> Result<Plan> {
    let mut rng = Rng::stream(seed, 0);
    let upper = Vectors::one_each(informed(model, ticker)?);
    let third = settings.points / 3;
    let mut beliefs = collect(model, None, third, settings.horizon, &mut rng);
    beliefs.extend(collect(model, Some(&upper), settings.points - third, settings.horizon, &mut rng));
    let mut values = blind(model, ticker)?;
    let mut by_action = Vectors::one_each(values.clone());
    for round in 0..settings.rounds {
        if round > 0 {
            shuffle(&mut beliefs, &mut rng);
            beliefs.truncate(settings.points / 2);
            let rest = settings.points - beliefs.len();
            beliefs.extend(collect(model, Some(&by_action), rest, settings.horizon, &mut rng));
        }
        let points = stacked(model, &beliefs);
        for _ in 0..settings.sweeps {
            ticker.check()?;
            let sweep = sweep(model, &points, &values, &mut rng);
            (values, by_action) = (sweep.values, sweep.by_action);
            if sweep.change <= TOLERANCE * sweep.largest {
                break;
            }
        }
    }
    let last = stacked(model, &collect(model, Some(&by_action), LAST_POINTS, settings.horizon, &mut rng));
    let vectors = by_action.and(&Later::new(model, &values).backup(&last)).best_at_any(&last);
    let starts = model.starts.dot(&values.t());
    let weighed = starts.rows().into_iter().zip(&model.start_probs).map(|(row, p)| p * f64::from(max(&row)));
    Ok(Plan { vectors, value: weighed.sum::<f64>() / model.start_probs.iter().sum::<f64>() })
}

/// So many beliefs that walks meet.
fn collect(
    model: &Model,
    plan: Option<&Vectors>,
    count: usize,
    horizon: usize,
    rng: &mut Rng,
) -> Vec<Array1<f32>> {
    let mut met = walk(model, plan, WALKS, horizon, EXPLORE, rng);
    shuffle(&mut met, rng);
    met.truncate(count);
    met
}

fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last + 1));
    }
}

/// The starts and these beliefs, (points, states).
fn stacked(model: &Model, beliefs: &[Array1<f32>]) -> Array2<f32> {
    let starts = model.starts.nrows();
    let mut points = Array2::zeros((starts + beliefs.len(), model.n_states()));
    points.slice_axis_mut(Axis(0), Slice::from(..starts)).assign(&model.starts);
    for (mut row, belief) in
        points.slice_axis_mut(Axis(0), Slice::from(starts..)).rows_mut().into_iter().zip(beliefs)
    {
        row.assign(belief);
    }
    points
}

struct Sweep {
    /// (vectors, states): those of the best action at every point that was backed up.
    values: Array2<f32>,
    by_action: Vectors,
    /// Largest improvement, and largest value before.
    change: f32,
    largest: f32,
}

/// Backs up points, some at a time, until the value of every point is at least what it was.
fn sweep(model: &Model, points: &Array2<f32>, values: &Array2<f32>, rng: &mut Rng) -> Sweep {
    let (count, later) = (points.nrows(), Later::new(model, values));
    let before = points.dot(&values.t());
    let old: Vec<f32> = before.rows().into_iter().map(|row| max(&row)).collect();
    let largest = old.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let (mut new, mut done) = (vec![f32::NEG_INFINITY; count], vec![false; count]);
    let mut todo: Vec<usize> = (0..count).collect();
    let mut best = Array2::zeros((0, model.n_states()));
    let mut all = Vectors::none(model.n_actions(), model.n_states());
    while !todo.is_empty() {
        shuffle(&mut todo, rng);
        todo.truncate(BATCH);
        let backed = later.backup(&points.select(Axis(0), &todo));
        let mut fresh = Array2::zeros((todo.len(), model.n_states()));
        for (place, &point) in todo.iter().enumerate() {
            done[point] = true;
            let (action, worth) = backed.best_at(place, &points.row(point));
            // Where a backup does not improve, the old vector is kept.
            fresh.row_mut(place).assign(&if worth >= old[point] {
                backed.of(action, place)
            } else {
                values.row(argmax(&before.row(point)))
            });
        }
        for (value, row) in new.iter_mut().zip(points.dot(&fresh.t()).rows()) {
            *value = value.max(max(&row));
        }
        best.append(Axis(0), fresh.view()).expect("as many states");
        all = all.and(&backed);
        todo = (0..count).filter(|&point| !done[point] && new[point] < old[point] - 1e-6 * largest).collect();
    }
    let mut used = vec![false; best.nrows()];
    points.dot(&best.t()).rows().into_iter().for_each(|row| used[argmax(&row)] = true);
    let chosen: Vec<usize> = (0..best.nrows()).filter(|&place| used[place]).collect();
    let change = new.iter().zip(&old).fold(0.0f32, |change, (new, old)| change.max(new - old));
    Sweep { values: best.select(Axis(0), &chosen), by_action: all.only(&chosen), change, largest }
}
