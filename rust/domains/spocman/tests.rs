//! The exact one-step laws, by enumeration or by counting many seeded single steps.

use std::collections::{HashMap, HashSet};

use super::*;

const RULES: [&str; 2] = ["published", "chasing"];

/// Pacman at a place, ghosts far away in a corner of their own.
fn quiet(world: &Spocman, row: usize, column: usize) -> State {
    let mut state = world.start(&mut Rng::stream(0, 0));
    state.pacman = world.maze.cell(row, column);
    state.power = -1;
    state.ghosts = [Ghost { cell: world.maze.cell(1, 1), last: NONE }; 4];
    state
}

#[test]
fn c1_first_step() {
    for rule in RULES {
        let world = Spocman::named(rule).unwrap();
        for seed in 0..500 {
            for action in 0..4 {
                let mut rng = Rng::stream(seed, 0);
                let mut state = world.start(&mut rng);
                let outcome = world.step(&mut state, action, &mut rng);
                let expected = if action == 1 || action == 2 { (-1.0, 1) } else { (-11.0, 5) };
                assert_eq!((outcome.reward, outcome.observation), expected);
            }
        }
    }
}

#[test]
fn c2_first_ghost_phase() {
    let common = [((7, 10), 1.0 / 3.0), ((8, 9), 1.0 / 3.0), ((9, 10), 1.0 / 3.0)];
    let published = [
        vec![((9, 9), 0.75), ((8, 9), 0.25)],
        common.to_vec(),
        vec![((9, 8), 0.75), ((9, 9), 0.25)],
        vec![((9, 9), 0.75), ((9, 10), 0.25)],
    ];
    let chasing = [
        vec![((7, 9), 0.75), ((8, 9), 0.25)],
        common.to_vec(),
        vec![((8, 9), 0.75), ((9, 9), 0.25)],
        vec![((8, 10), 0.75), ((9, 10), 0.25)],
    ];
    const DRAWS: u64 = 40_000;
    for (rule, laws) in RULES.iter().zip([published, chasing]) {
        let world = Spocman::named(rule).unwrap();
        let mut counts: [HashMap<u8, f64>; 4] = Default::default();
        for seed in 0..DRAWS {
            let mut rng = Rng::stream(seed, 1);
            let mut state = world.start(&mut rng);
            world.step(&mut state, 1, &mut rng);
            (0..4).for_each(|g| *counts[g].entry(state.ghosts[g].cell).or_default() += 1.0);
        }
        for (g, law) in laws.iter().enumerate() {
            assert_eq!(counts[g].len(), law.len(), "{rule}, ghost {g}");
            for &((row, column), probability) in law {
                let frequency = counts[g][&world.maze.cell(row, column)] / DRAWS as f64;
                let slack = 5.0 * (probability * (1.0 - probability) / DRAWS as f64).sqrt();
                assert!((frequency - probability).abs() < slack, "{rule}, ghost {g}: {frequency}");
            }
        }
    }
}

#[test]
fn c3_attainable_observations() {
    let world = Spocman::named("published").unwrap();
    let mut walls: HashMap<u8, usize> = HashMap::new();
    let mut observations = HashSet::new();
    for cell in 0..world.maze.len() as u8 {
        let pattern = !world.maze.exits[cell as usize] & 15;
        *walls.entry(pattern).or_default() += 1;
        // Four ghosts can fill any set of the directions in which there is something to see.
        let visible =
            (0..world.maze.len() as u8).fold(0, |seen, other| seen | world.maze.seen_from(cell, other));
        for seen in (0..16).filter(|seen| seen & !visible == 0) {
            observations.extend([false, true].map(|power| (pattern, seen, power)));
        }
    }
    let expected =
        [(0, 7), (1, 11), (2, 6), (3, 7), (4, 11), (5, 70), (6, 7), (8, 6), (9, 7), (10, 50), (12, 7)];
    assert_eq!(walls, expected.into_iter().collect());
    assert_eq!(observations.len(), 144);
}

#[test]
fn c4_tunnel() {
    let world = Spocman::named("published").unwrap();
    let (west, east) = (world.maze.cell(9, 1), world.maze.cell(9, 17));
    assert_eq!((world.maze.ahead(west, WEST), world.maze.ahead(east, EAST)), (east, west));
    let outcome = world.step(&mut quiet(&world, 9, 2), 2, &mut Rng::stream(0, 0));
    assert_eq!(outcome.observation & 8, 0);
}

#[test]
fn c5_power_lasts_fifteen_collisions() {
    for rule in RULES {
        let world = Spocman::named(rule).unwrap();
        let mut state = quiet(&world, 14, 1);
        let mut rng = Rng::stream(5, 0);
        let outcome = world.step(&mut state, 3, &mut rng);
        assert_eq!((outcome.reward, outcome.observation >> 8), (-1.0, 1));
        for step in 1..=16 {
            // Pacman goes north and south; a ghost is put where it will arrive, and the step is repeated with
            // another seed until the ghost stands still, as frightened ghosts do in one case of four. They are
            // frightened in the sixteenth step, too.
            let action = if step % 2 == 1 { 0 } else { 3 };
            let target = world.maze.ahead(state.pacman, DIRECTION_OF_ACTION[action]);
            let met = (0..10_000).find_map(|seed| {
                let mut trial = state.clone();
                trial.ghosts[0] = Ghost { cell: target, last: NONE };
                let outcome = world.step(&mut trial, action, &mut Rng::stream(seed, step));
                (outcome.reward != -1.0).then_some((trial, outcome))
            });
            let (after, outcome) = met.expect("the ghost comes onto pacman for some seed");
            state = after;
            let expected = if step <= 15 { (24.0, false) } else { (-51.0, true) };
            assert_eq!((outcome.reward, outcome.terminated), expected, "{rule}, step {step}");
        }
    }
}

#[test]
fn c6_the_last_pellet_pays_1099() {
    let world = Spocman::named("published").unwrap();
    let mut state = quiet(&world, 19, 8);
    state.pellets = 1 << world.pellets.iter().position(|&cell| cell == world.maze.cell(19, 9)).unwrap();
    let outcome = world.step(&mut state, 1, &mut Rng::stream(0, 0));
    assert_eq!((outcome.reward, outcome.terminated), (1099.0, true));
}

#[test]
fn c7_two_ghosts_cost_twice() {
    let world = Spocman::named("published").unwrap();
    let seen = (0..5_000).any(|seed| {
        let mut state = quiet(&world, 13, 5);
        // From a corridor east of the target both ghosts can come; only a double meeting is of interest.
        for g in [0, 1] {
            state.ghosts[g] = Ghost { cell: world.maze.cell(13, 7), last: NONE };
        }
        let outcome = world.step(&mut state, 1, &mut Rng::stream(seed, 0));
        let met = [0, 1].iter().filter(|&&g| state.ghosts[g].cell == state.pacman).count();
        let expected = -1.0 - 50.0 * met as f64;
        assert_eq!((outcome.reward, outcome.terminated), (expected, met > 0));
        met == 2
    });
    assert!(seen);
}

#[test]
fn swapping_cells_is_harmless() {
    let world = Spocman::named("published").unwrap();
    let swapped = (0..5_000).any(|seed| {
        let mut state = quiet(&world, 13, 5);
        state.ghosts[0] = Ghost { cell: world.maze.cell(13, 6), last: NONE };
        let outcome = world.step(&mut state, 1, &mut Rng::stream(seed, 0));
        let swap = state.ghosts[0].cell == world.maze.cell(13, 5);
        assert!(!swap || (outcome.reward, outcome.terminated) == (-1.0, false));
        swap
    });
    assert!(swapped);
}

#[test]
fn distances_of_pellets_and_pills() {
    let world = Spocman::named("published").unwrap();
    let mut distance = vec![usize::MAX; world.maze.len()];
    let mut frontier = vec![world.pacman_start];
    distance[world.pacman_start as usize] = 0;
    while let Some(cell) = (!frontier.is_empty()).then(|| frontier.remove(0)) {
        for direction in (0..4).filter(|&d| world.maze.can_go(cell, d)) {
            let next = world.maze.ahead(cell, direction);
            if distance[next as usize] == usize::MAX {
                distance[next as usize] = distance[cell as usize] + 1;
                frontier.push(next);
            }
        }
    }
    let of = |cells: &[u8]| cells.iter().map(|&cell| distance[cell as usize]).collect::<Vec<_>>();
    assert_eq!(of(&world.pellets), [18, 22, 18, 13, 11, 11, 12]);
    assert_eq!(of(&world.pills), [18, 18, 10, 10]);
}
