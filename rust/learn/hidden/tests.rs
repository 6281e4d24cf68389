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
        start: Start::Random(2),
        states,
        held_out: 0.1,
        patience: 2,
        explore: 5,
        settle: 5,
        batch: 200,
        overshoot: 0.9,
        priors: Priors { transitions: 0.5, pooled: 10.0, emissions: 0.5, rewards: 2.0, start: 0.02 },
        seed: 3,
    }
}

/// The probability of an episode, summed over all ways through the states.
fn probability(model: &Model, coded: &Coded, episode: usize) -> f64 {
    let states = model.states;
    let shown = |code: u32, state: usize| f64::from(model.emissions[code as usize * states + state]);
    let mut alpha: Vec<f64> = model.start.iter().map(|&p| f64::from(p)).collect();
    if let Some(first) = &coded.first {
        alpha.iter_mut().enumerate().for_each(|(state, p)| *p *= shown(first[episode], state));
    }
    for step in coded.steps(episode) {
        let (action, event) = (coded.actions[step] as usize, coded.events[step] as usize);
        let mut next = vec![0.0; states];
        for (left, p) in alpha.iter().enumerate() {
            let reward = model.rewards[(action * coded.n_events() + event) * states + left];
            for (reached, sum) in next.iter_mut().enumerate() {
                let moved = model.transitions[(action * states + left) * states + reached];
                *sum += p * f64::from(reward) * f64::from(moved) * shown(coded.shown[step], reached);
            }
        }
        alpha = next;
    }
    alpha.iter().sum()
}

#[test]
fn likelihoods_are_those_of_all_ways() {
    let mut rng = Rng::stream(1, 0);
    for opens in [false, true] {
        let log = log(300, &mut rng);
        let coded = Coded::of(&log.view(opens)).unwrap();
        let (model, ticker) =
            (grown(&coded, &growth(4), 0..1, 1, &Ticker::default()).unwrap().remove(0), Ticker::default());
        let likelihoods = model.likelihoods(&coded, &ticker).unwrap();
        for (episode, found) in likelihoods.into_iter().enumerate() {
            let expected = probability(&model, &coded, episode).ln();
            assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{found} {expected}");
        }
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

#[test]
fn parameters_are_distributions_and_repeat() {
    let mut rng = Rng::stream(4, 0);
    let log = log(150, &mut rng);
    let coded = Coded::of(&log.view(true)).unwrap();
    for start in [Start::Random(2), Start::Seen(0.9)] {
        let growth = Growth { start, ..growth(5) };
        let models = grown(&coded, &growth, 0..3, 1, &Ticker::default()).unwrap();
        assert_eq!(models, grown(&coded, &growth, 0..3, 3, &Ticker::default()).unwrap());
        for model in &models {
            let near_one = |total: f32| (total - 1.0).abs() < 1e-4;
            assert!(model.transitions.chunks_exact(model.states).all(|row| near_one(row.iter().sum())));
            for state in 0..model.states {
                assert!(near_one(model.emissions.iter().skip(state).step_by(model.states).sum()));
            }
            assert!(near_one(model.start.iter().sum()));
            assert!(model.mean_rewards(&coded).iter().all(|reward| (0.0..=1.0001).contains(reward)));
        }
    }
}

#[test]
fn what_was_never_seen_says_nothing() {
    let mut rng = Rng::stream(5, 0);
    let log = log(50, &mut rng);
    let coded = Coded::of(&log.view(false)).unwrap();
    let model = grown(&coded, &growth(2), 0..1, 1, &Ticker::default()).unwrap().remove(0);
    let shown = model.shown(&coded);
    assert!(shown[3 * model.states..].iter().all(|&p| p == 1.0));
    assert!(
        Coded::of(&View {
            offsets: &[0],
            actions: &[],
            observations: &[],
            rewards: &[],
            terminated: &[],
            ..log.view(false)
        })
        .is_err()
    );
}

#[test]
fn what_reset_shows_is_learned() {
    let mut rng = Rng::stream(6, 0);
    let mut log = log(400, &mut rng);
    // What is shown first is shown again at every step.
    for episode in 0..400 {
        let steps = log.offsets[episode] as usize..log.offsets[episode + 1] as usize;
        log.observations[steps].fill(log.first[episode]);
    }
    let coded = Coded::of(&log.view(true)).unwrap();
    let growth = Growth { start: Start::Random(4), explore: 20, settle: 10, ..growth(8) };
    let model = grown(&coded, &growth, 0..1, 1, &Ticker::default()).unwrap().remove(0);
    let ends = log.terminated.iter().filter(|&&ends| ends).count() as f64;
    let likelihood: f64 = model.likelihoods(&coded, &Ticker::default()).unwrap().iter().sum();
    // Three first observations, two rewards, and an end or none: no more than these is left to chance.
    let chance = 400.0 * 3.0f64.ln() + coded.n_steps() as f64 * 2.0f64.ln();
    assert!(likelihood > -1.1 * (chance + 2.0 * ends), "{likelihood} {chance} {ends}");
    for code in 0..3 {
        let shown = &model.emissions[code * model.states..][..model.states];
        assert!(shown.iter().any(|&p| p > 0.7), "{shown:?}");
    }
}
