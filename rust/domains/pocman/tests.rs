//! The exact one-step laws, by counting many seeded single steps or by construction.

use std::collections::HashMap;

use super::*;
use crate::domains::maze::{NORTH, SOUTH};
use crate::simulate::planning::{Actions, Planning};

const DRAWS: u64 = 40_000;

fn full() -> Pocman {
    Pocman::named("full").unwrap()
}

/// Frequencies of `observe(seed)` against exact probabilities: every outcome must be expected, and within
/// five standard errors.
fn assert_law<T: std::hash::Hash + Eq + std::fmt::Debug>(sample: impl Fn(&mut Rng) -> T, law: &[(T, f64)]) {
    let mut counts: HashMap<T, f64> = HashMap::new();
    for seed in 0..DRAWS {
        *counts.entry(sample(&mut Rng::stream(seed, 7))).or_default() += 1.0;
    }
    for (outcome, count) in &counts {
        assert!(law.iter().any(|(known, _)| known == outcome), "unexpected {outcome:?} ({count} times)");
    }
    for (outcome, probability) in law {
        let frequency = counts.get(outcome).copied().unwrap_or(0.0) / DRAWS as f64;
        let slack = 5.0 * (probability * (1.0 - probability) / DRAWS as f64).sqrt() + 1e-12;
        assert!(
            (frequency - probability).abs() <= slack,
            "{outcome:?}: {frequency} instead of {probability}"
        );
    }
}

/// A state far from trouble: ghosts parked at the top, some food left.
fn quiet(world: &Pocman, pocman: (usize, usize)) -> State {
    let mut state = world.start(&mut Rng::stream(0, 0));
    state.pocman = world.at(pocman.0, pocman.1);
    state.ghosts = [Ghost { cell: world.at(8, 18), last: NONE }; 4];
    state.food = set_of(&[world.at(0, 18), world.at(16, 18)]);
    state.food_left = 2;
    state
}

#[test]
fn maze_check_values() {
    let counts = |name: &str| {
        let world = Pocman::named(name).unwrap();
        let food: u32 = world.eligible.iter().map(|bits| bits.count_ones()).sum();
        (world.maze.len(), food, world.maze.exits.iter().map(|e| e.count_ones()).min().unwrap())
    };
    assert_eq!(counts("full"), (189, 157, 2));
    assert_eq!(counts("mini"), (66, 62, 2));
    assert_eq!(counts("micro"), (40, 40, 2));
    let world = full();
    let degree = |n| world.maze.exits.iter().filter(|exits| exits.count_ones() == n).count();
    assert_eq!((degree(2), degree(3), degree(4)), (148, 34, 7));
    let starts: Vec<u8> = [(8, 10), (9, 10), (8, 11), (9, 11)].map(|(x, y)| world.at(x, y)).to_vec();
    assert_eq!(world.ghost_starts, starts);
    assert_eq!(world.pills, set_of(&[(0, 4), (16, 4), (0, 16), (16, 16)].map(|(x, y)| world.at(x, y))));
}

#[test]
fn a1_first_step_rewards() {
    let world = full();
    for seed in 0..200 {
        for action in 0..4 {
            let mut rng = Rng::stream(seed, 0);
            let mut state = world.start(&mut rng);
            let target = world.maze.ahead(state.pocman, action as u8);
            let before = state.clone();
            let outcome = world.step(&mut state, action, &mut rng);
            if action % 2 == 0 {
                let eaten = if contains(&before.food, world.at(8, 6)) { 10.0 } else { 0.0 };
                assert_eq!((outcome.reward, state.pocman), (-26.0 + eaten, world.at(8, 6)));
            } else {
                let eaten = if contains(&before.food, target) { 10.0 } else { 0.0 };
                assert_eq!((outcome.reward, state.pocman), (-1.0 + eaten, target));
            }
        }
    }
}

#[test]
fn a2_first_observation() {
    let world = full();
    let sample = |rng: &mut Rng| {
        let mut state = world.start(rng);
        let action = rng.below(4);
        world.step(&mut state, action, rng).observation
    };
    assert_law(sample, &[(160, 1.0 / 64.0), (416, 31.0 / 64.0), (224, 1.0 / 32.0), (480, 15.0 / 32.0)]);
}

#[test]
fn a3_the_passage_joins_the_edges_but_not_the_view() {
    let world = full();
    let (west, east) = (world.at(0, 10), world.at(16, 10));
    assert_eq!((world.maze.ahead(west, 3), world.maze.ahead(east, 1)), (east, west));
    assert!(world.maze.can_go(west, 3) && world.maze.can_go(east, 1));
    assert_eq!(world.maze.seen_from(west, east), 0);
    assert_eq!(world.maze.seen_from(west, world.at(2, 10)), 1 << 1);
}

fn ghost_law(
    pocman: (usize, usize),
    ghost: (usize, usize),
    last: u8,
    power: u8,
    law: &[((usize, usize), f64)],
) {
    let world = full();
    let sample = |rng: &mut Rng| {
        let mut ghost = Ghost { cell: world.at(ghost.0, ghost.1), last };
        world.move_ghost(&mut ghost, world.at(pocman.0, pocman.1), power, rng);
        ghost.cell
    };
    let law: Vec<(u8, f64)> = law.iter().map(|&((x, y), p)| (world.at(x, y), p)).collect();
    assert_law(sample, &law);
}

#[test]
fn a4_ghost_two_cells_north() {
    ghost_law((8, 6), (8, 8), NONE, 0, &[((7, 8), 0.875), ((9, 8), 0.125)]);
    ghost_law((8, 6), (8, 8), NONE, 5, &[((7, 8), 1.0)]);
}

#[test]
fn a5_ghost_at_a_junction() {
    ghost_law((5, 6), (5, 8), NONE, 0, &[((5, 7), 5.0 / 6.0), ((5, 9), 1.0 / 12.0), ((6, 8), 1.0 / 12.0)]);
    ghost_law((5, 6), (5, 8), NONE, 5, &[((5, 9), 1.0)]);
    ghost_law((5, 6), (5, 8), SOUTH, 5, &[((5, 8), 0.25), ((6, 8), 0.75)]);
}

#[test]
fn a_ghost_that_chases_forgets_its_direction() {
    let world = full();
    let mut ghost = Ghost { cell: world.at(5, 8), last: NORTH };
    world.chase(&mut ghost, world.at(5, 6));
    assert_eq!(ghost.last, NONE);
}

#[test]
fn a6_the_last_piece_pays_999() {
    let world = full();
    let mut state = quiet(&world, (0, 0));
    state.food = set_of(&[world.at(1, 0)]);
    state.food_left = 1;
    let outcome = world.step(&mut state, 1, &mut Rng::stream(0, 0));
    assert_eq!((outcome.reward, outcome.terminated), (999.0, true));
}

#[test]
fn a7_power_lasts_fourteen_collisions() {
    let world = full();
    let mut rng = Rng::stream(3, 0);
    let mut state = quiet(&world, (0, 5));
    state.food = set_of(&[world.at(0, 4), world.at(16, 18)]);
    let outcome = world.step(&mut state, 2, &mut rng);
    assert_eq!((outcome.reward, state.power), (9.0, 15));
    for step in 1..=15 {
        // A ghost on pocman's target cell is met before it can move away.
        let action = if world.maze.can_go(state.pocman, 0) && step % 2 == 1 { 0 } else { 2 };
        state.ghosts[0] = Ghost { cell: world.maze.ahead(state.pocman, action), last: NONE };
        let outcome = world.step(&mut state, action as usize, &mut rng);
        if step <= 14 {
            assert_eq!((outcome.reward, outcome.terminated), (24.0, false), "step {step}");
            assert_eq!(state.ghosts[0].cell, world.at(8, 10));
        } else {
            assert_eq!((outcome.reward, outcome.terminated, outcome.observation), (-101.0, true, 0));
        }
    }
}

#[test]
fn one_ghost_at_most_is_eaten_a_step_and_it_is_the_last() {
    let world = full();
    let mut state = quiet(&world, (0, 0));
    state.power = 9;
    for g in [1, 2] {
        state.ghosts[g].cell = world.at(1, 0);
    }
    let outcome = world.step(&mut state, 1, &mut Rng::stream(0, 0));
    assert_eq!(outcome.reward, 24.0);
    assert_eq!(state.ghosts[2].cell, world.at(8, 10));
    assert_ne!(state.ghosts[1].cell, world.at(8, 10));
}

#[test]
fn perturbed_states_show_what_was_seen() {
    let world = full();
    let mut rng = Rng::stream(1, 2);
    let (mut accepted, mut moved) = (0, 0);
    for _ in 0..300 {
        let mut state = world.start(&mut rng);
        let seen = world.step(&mut state, 1, &mut rng).observation;
        let before = state.clone();
        if world.perturb(&mut state, seen, &mut rng) {
            accepted += 1;
            moved += usize::from(state.ghosts != before.ghosts);
            assert_eq!(world.observe(&state), seen);
            assert_eq!((state.pocman, state.power), (before.pocman, before.power));
            assert_eq!(
                u32::from(state.food_left),
                state.food.iter().map(|bits| bits.count_ones()).sum::<u32>()
            );
        }
    }
    assert!(accepted > 100 && moved > accepted * 9 / 10, "{accepted} accepted, {moved} moved");
}

/// At (3, 6) all ways are open. Powered, a ghost in any direction is hunted, not only one in the North.
#[test]
fn preferred_moves_hunt_or_avoid_the_ghosts_in_sight() {
    let world = full();
    let mut state = quiet(&world, (3, 6));
    assert_eq!(world.legal(&state), Actions::Bits(0b1111));
    assert_eq!(world.preferred(&state, 1, 0), Actions::Bits(0b0111), "not back to the West");
    assert_eq!(world.preferred(&state, 1, 0b0100), Actions::Bits(0b0011), "nor to the ghost in the South");
    state.power = 5;
    assert_eq!(world.preferred(&state, 1, 0b0100), Actions::Bits(0b0100));
    assert_eq!(world.preferred(&state, 1, 0), Actions::Bits(0b0111));
}
