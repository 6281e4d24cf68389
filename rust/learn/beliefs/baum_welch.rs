//! The expectation step of Baum–Welch for an input–output hidden Markov model.

use crate::error::{Error, Result};
use crate::parallel::{Ticker, fold_blocks};
use crate::trajectories::View;

const BLOCK: usize = 64;

/// A hidden Markov model driven by actions: start (S), transitions (A, S, S), observations (A, S, O), row-major.
/// An action moves the state, then the state arrived in is observed.
pub struct Model<'a> {
    pub(crate) n_states: usize,
    pub(crate) start: &'a [f64],
    pub(crate) transitions: &'a [f64],
    pub(crate) observations: &'a [f64],
}

/// Posterior counts under a model, with the shapes of its tables; `rewards` sums the rewards by transition.
#[derive(Clone, Debug)]
pub struct Counts {
    pub(crate) log_likelihood: f64,
    pub(crate) start: Vec<f64>,
    pub(crate) transitions: Vec<f64>,
    pub(crate) observations: Vec<f64>,
    pub(crate) rewards: Vec<f64>,
}

impl Counts {
    fn zero(model: &Model) -> Self {
        Counts {
            log_likelihood: 0.0,
            start: vec![0.0; model.start.len()],
            transitions: vec![0.0; model.transitions.len()],
            observations: vec![0.0; model.observations.len()],
            rewards: vec![0.0; model.transitions.len()],
        }
    }

    fn add(&mut self, other: &Counts) {
        let add = |sum: &mut Vec<f64>, term: &Vec<f64>| {
            sum.iter_mut().zip(term).for_each(|(sum, term)| *sum += term);
        };
        self.log_likelihood += other.log_likelihood;
        add(&mut self.start, &other.start);
        add(&mut self.transitions, &other.transitions);
        add(&mut self.observations, &other.observations);
        add(&mut self.rewards, &other.rewards);
    }
}

/// Expected counts of every start, transition and showning, given all episodes.
pub fn expected_counts(view: &View, model: &Model, threads: usize, ticker: &Ticker) -> Result<Counts> {
    let states = model.n_states;
    let sizes = [
        ("start", model.start.len(), states),
        ("transitions", model.transitions.len(), view.n_actions * states * states),
        ("observations", model.observations.len(), view.n_actions * states * view.n_observations),
    ];
    for (name, given, expected) in sizes {
        if given != expected || states == 0 {
            return Err(Error::argument(name, format!("{given} entries"), format!("expected {expected}")));
        }
    }
    let total = fold_blocks(
        threads,
        view.n_episodes(),
        BLOCK,
        ticker,
        |episodes| {
            let mut counts = Counts::zero(model);
            for episode in episodes {
                add_episode(view, model, episode, &mut counts)?;
            }
            Ok(counts)
        },
        |total, block| {
            total.add(&block);
            Ok(())
        },
    )?;
    Ok(total.unwrap_or_else(|| Counts::zero(model)))
}

/// Forward, then backward; forward vectors sum to one, so the scales multiply to the likelihood.
fn add_episode(view: &View, model: &Model, episode: usize, counts: &mut Counts) -> Result<()> {
    let (states, n_observations) = (model.n_states, view.n_observations);
    let steps = view.episode(episode);
    let shown = |step: usize, state: usize| {
        (view.actions[step] as usize * states + state) * n_observations + view.observations[step] as usize
    };
    let row = |step: usize, state: usize| {
        let begin = (view.actions[step] as usize * states + state) * states;
        begin..begin + states
    };
    let mut forward = model.start.to_vec();
    let mut scales = Vec::with_capacity(steps.len());
    for step in steps.clone() {
        let begin = forward.len() - states;
        let mut next = vec![0.0; states];
        for state in 0..states {
            let weight = forward[begin + state];
            let moves = &model.transitions[row(step, state)];
            next.iter_mut().zip(moves).for_each(|(entry, p)| *entry += weight * p);
        }
        next.iter_mut()
            .enumerate()
            .for_each(|(state, entry)| *entry *= model.observations[shown(step, state)]);
        let scale: f64 = next.iter().sum();
        if scale.is_nan() || scale <= 0.0 {
            let place = format!("episode {episode}, step {}", step - steps.start);
            return Err(Error::Numerical(format!("{place}: the model gives this observation probability 0")));
        }
        counts.log_likelihood += scale.ln();
        scales.push(scale);
        forward.extend(next.iter().map(|entry| entry / scale));
    }
    let mut backward = vec![1.0; states];
    for (index, step) in steps.enumerate().rev() {
        let before = &forward[index * states..(index + 1) * states];
        let after = &forward[(index + 1) * states..(index + 2) * states];
        for state in 0..states {
            counts.observations[shown(step, state)] += after[state] * backward[state];
        }
        let arrive: Vec<f64> = (0..states)
            .map(|state| model.observations[shown(step, state)] * backward[state] / scales[index])
            .collect();
        for state in 0..states {
            let range = row(step, state);
            let mut total = 0.0;
            for (place, weight) in range.zip(&arrive) {
                let joint = model.transitions[place] * weight;
                counts.transitions[place] += before[state] * joint;
                counts.rewards[place] += before[state] * joint * view.rewards[step];
                total += joint;
            }
            backward[state] = total;
        }
    }
    for ((count, start), ahead) in counts.start.iter_mut().zip(model.start).zip(&backward) {
        *count += start * ahead;
    }
    Ok(())
}
