//! Planning where the right answer is known.

use super::*;
use crate::domains::gridworld::Gridworld;
use crate::domains::pocman::Pocman;
use crate::domains::spocman::Spocman;
use crate::domains::tiger::Tiger;
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::planning::Actions;

fn settings(simulations: usize) -> Settings {
    Settings { simulations, particles: simulations, rollouts: Rollouts::Legal, discount: 0.95, horizon: 20 }
}

fn advanced<E: Planning>(
    planner: &Pomcp<E>,
    memory: &Search<E::State>,
    step: (usize, usize),
) -> Search<E::State> {
    let mut next = memory.clone();
    planner.update(&mut next, step.0, step.1);
    next
}

fn best_action<E: Planning>(planner: &Pomcp<E>, memory: &Search<E::State>) -> Option<usize> {
    let mut probs = vec![0.0; planner.n_actions()];
    planner.action_probs(memory, &mut probs);
    probs.iter().position(|&p| p == 1.0)
}

fn planner<E: Planning>(world: E, simulations: usize) -> Pomcp<E> {
    Pomcp::new(Arc::new(world), settings(simulations), None, 0).unwrap()
}

#[test]
fn simulations_end_where_rewards_no_longer_count() {
    let with = |discount, horizon| Settings { discount, horizon, ..settings(1) };
    assert_eq!(with(0.95, 1000).depth(0), 90);
    assert_eq!([with(1.0, 30).depth(0), with(0.99999, 30).depth(29), with(0.0, 30).depth(0)], [30, 1, 1]);
    assert_eq!([with(0.95, 89).depth(80), with(0.95, 89).depth(89)], [9, 89]);
}

#[test]
fn tiger_listens_until_it_knows_and_the_belief_is_bayes() {
    let settings = Settings { rollouts: Rollouts::Preferred, ..settings(4000) };
    let planner = Pomcp::new(Arc::new(Tiger), settings, None, 0).unwrap();
    let memory = planner.start();
    assert_eq!(best_action(&planner, &memory), Some(0));
    let twice = advanced(&planner, &advanced(&planner, &memory, (0, 0)), (0, 0));
    assert_eq!(best_action(&planner, &twice), Some(2), "two noises on the left: open the right door");
    let particles = &twice.particles;
    let left = particles.iter().filter(|&&tiger| tiger == 0).count() as f64;
    let exact = 0.85f64.powi(2) / (0.85f64.powi(2) + 0.15f64.powi(2));
    assert!((left / particles.len() as f64 - exact).abs() < 0.02);
}

#[test]
fn an_impossible_observation_keeps_the_nearest_particles() {
    let planner = planner(Gridworld::named("near").unwrap(), 50);
    let memory = advanced(&planner, &planner.start(), (0, 4));
    assert!(best_action(&planner, &memory).is_some());
}

/// Pocman knows where it is, so every particle must have it right, whether it was simulated or perturbed; and
/// no transform may lose count of the food.
#[test]
fn particles_are_where_pocman_is_and_count_their_food() {
    let (pocman, planner) = (Pocman::named("full").unwrap(), planner(Pocman::named("full").unwrap(), 200));
    let mut rng = Rng::stream(5, 5);
    let mut state = pocman.start(&mut rng);
    let mut memory = planner.start();
    for _ in 0..30 {
        let Some(action) = best_action(&planner, &memory) else { panic!("lost the belief") };
        assert!(pocman.legal(&state).contains(action));
        let Outcome { observation, terminated, .. } = pocman.step(&mut state, action, &mut rng);
        if terminated {
            break;
        }
        memory = advanced(&planner, &memory, (action, observation));
        for particle in &memory.particles {
            assert_eq!(particle.pocman, state.pocman);
            let food: u32 = particle.food.iter().map(|bits| bits.count_ones()).sum();
            assert_eq!(u32::from(particle.food_left), food);
        }
    }
}

/// In S-PocMan the start has exits E and W, and its actions are not in the order of the compass.
#[test]
fn spocman_moves_are_those_without_a_wall() {
    let world = Spocman::named("published").unwrap();
    let mut rng = Rng::stream(0, 0);
    for seed in 0..20 {
        let mut state = world.start(&mut Rng::stream(seed, 0));
        assert_eq!(world.legal(&state), Actions::Bits(0b0110));
        for _ in 0..100 {
            let here = state.clone();
            for action in 0..4 {
                let outcome = world.step(&mut here.clone(), action, &mut rng);
                let bumped = outcome.reward.rem_euclid(25.0) == (-11.0f64).rem_euclid(25.0);
                assert_eq!(world.legal(&here).contains(action), !bumped);
            }
            let action = world.legal(&state).pick(4, &mut rng);
            let outcome = world.step(&mut state, action, &mut rng);
            if outcome.terminated {
                break;
            }
            let onward = world.preferred(&state, action, outcome.observation);
            assert!(state.power >= 0 || !onward.contains(3 - action), "never back");
        }
    }
}
