use super::grow::Priors;
use super::*;
use crate::rng::Rng;
use crate::trajectories::View;

const NOTHING: Priors =
    Priors { transitions: 1e-6, pooled: 0.0, emissions: 1e-6, rewards: 1e-6, start: 1e-6 };

struct Log {
    actions: Vec<i32>,
    observations: Vec<i32>,
    rewards: Vec<f64>,
    offsets: Vec<i64>,
    terminated: Vec<bool>,
    first: Vec<i32>,
}

/// Random steps of episodes of random lengths.
fn log(episodes: usize, rng: &mut Rng) -> Log {
    let mut offsets = vec![0i64];
    (0..episodes).for_each(|_| offsets.push(offsets[offsets.len() - 1] + 1 + rng.below(6) as i64));
    let steps = offsets[episodes] as usize;
    Log {
        actions: (0..steps).map(|_| rng.below(2) as i32).collect(),
        observations: (0..steps).map(|_| rng.below(3) as i32).collect(),
        rewards: (0..steps).map(|_| rng.below(2) as f64).collect(),
        offsets,
        terminated: (0..episodes).map(|_| rng.below(2) == 0).collect(),
        first: (0..episodes).map(|_| rng.below(3) as i32).collect(),
    }
}

impl Log {
    fn view(&self, opens: bool) -> View<'_> {
        View {
            actions: &self.actions,
            observations: &self.observations,
            rewards: &self.rewards,
            offsets: &self.offsets,
            behavior_probs: None,
            terminated: &self.terminated,
            first_observations: opens.then_some(&self.first[..]),
            n_actions: 2,
            n_observations: 4,
        }
    }
}

fn growth(states: usize) -> Growth {
    Growth {
        first: 2,
        trust: 0.85,
        states,
        held_out: 0.1,
        patience: 2,
        evidence: 2.0,
        explore: 5,
        settle: 5,
        batch: 200,
        overshoot: 0.9,
        priors: Priors { transitions: 0.5, pooled: 10.0, emissions: 0.5, rewards: 2.0, start: 0.02 },
        seed: 3,
    }
}

#[test]
fn a_plain_iteration_never_lowers_the_likelihood() {
    let mut rng = Rng::stream(2, 0);
    for opens in [false, true] {
        let log = log(200, &mut rng);
        let coded = Coded::of(&log.view(opens)).unwrap();
        let ticker = Ticker::default();
        let mut model = grown(&coded, &Growth { explore: 1, settle: 0, ..growth(3) }, 0..1, 1, &ticker)
            .unwrap()
            .remove(0);
        let all: Vec<usize> = (0..coded.n_episodes()).collect();
        let batches = batch::Batch::all(&coded, &all);
        let total = |model: &Model| model.likelihoods(&coded, &ticker).unwrap().iter().sum::<f64>();
        let mut last = total(&model);
        for _ in 0..20 {
            let counts =
                pass::expected(&model, &coded, &batches, &mut pass::Workspace::default(), &ticker).unwrap();
            let visited: f32 = counts.transitions.iter().sum();
            assert!((visited - coded.n_steps() as f32).abs() < 0.01 * coded.n_steps() as f32);
            model = maximise::maximised(&model, &counts, &coded, &NOTHING, 0.0);
            let now = total(&model);
            assert!(now > last - 1e-2, "{now} after {last}");
            last = now;
        }
    }
}
