//! Two doors, one tiger (Kaelbling, Littman and Cassandra, 1998).

use crate::domains::tabular::{Model, Rewards, Tabular};
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::planning::{Actions, Planning};

const ACTIONS: [&str; 3] = ["listen", "open left", "open right"];
const OBSERVATIONS: [&str; 2] = ["hear left", "hear right"];
const STATES: [&str; 2] = ["tiger left", "tiger right"];
const LISTEN: usize = 0;
const HEARS_RIGHT: f64 = 0.85;

/// Listening costs 1 and is right with probability 0.85; the tiger's door costs 100, the other pays 10. An
/// opened door hides the tiger anew and shows a fair coin. Episodes never end by themselves.
pub struct Tiger;

impl Tiger {
    fn reward(action: usize, tiger: usize) -> f64 {
        match action {
            LISTEN => -1.0,
            door if door - 1 == tiger => -100.0,
            _ => 10.0,
        }
    }

    pub(crate) fn tabular(&self) -> Tabular {
        let (mut transitions, mut observations, mut rewards) = (Vec::new(), Vec::new(), Vec::new());
        for action in 0..3 {
            for tiger in 0..2 {
                let (stays, heard) = if action == LISTEN { (1.0, HEARS_RIGHT) } else { (0.5, 0.5) };
                transitions.extend(if tiger == 0 { [stays, 1.0 - stays] } else { [1.0 - stays, stays] });
                observations.extend(if tiger == 0 { [heard, 1.0 - heard] } else { [1.0 - heard, heard] });
                rewards.push(Self::reward(action, tiger));
            }
        }
        let model = Model {
            n_states: 2,
            n_actions: 3,
            n_observations: 2,
            transitions,
            observations,
            rewards: Rewards { values: rewards, by_next_state: false, by_observation: false },
            start: vec![0.5, 0.5],
            terminal: vec![false; 2],
            first_observations: None,
        };
        let names = |list: &[&str]| list.iter().map(std::string::ToString::to_string).collect();
        Tabular::new(model)
            .and_then(|tabular| tabular.named(names(&ACTIONS), names(&OBSERVATIONS), names(&STATES)))
            .expect("the arrays are written above")
    }
}

impl Environment for Tiger {
    type State = usize;

    fn n_actions(&self) -> usize {
        ACTIONS.len()
    }

    fn n_observations(&self) -> usize {
        OBSERVATIONS.len()
    }

    fn start(&self, rng: &mut Rng) -> usize {
        rng.below(2)
    }

    #[inline]
    fn step(&self, tiger: &mut usize, action: usize, rng: &mut Rng) -> Outcome {
        let reward = Self::reward(action, *tiger);
        let observation = if action == LISTEN {
            if rng.chance(HEARS_RIGHT) { *tiger } else { 1 - *tiger }
        } else {
            *tiger = rng.below(2);
            rng.below(2)
        };
        Outcome { observation, reward, terminated: false }
    }

    fn action_name(&self, action: usize) -> String {
        ACTIONS[action].into()
    }

    fn observation_name(&self, observation: usize) -> String {
        OBSERVATIONS[observation].into()
    }

    fn render(&self, tiger: &usize) -> String {
        if *tiger == 0 { "[T] [ ]".into() } else { "[ ] [T]".into() }
    }
}

impl Planning for Tiger {
    fn reward_range(&self) -> f64 {
        110.0
    }

    /// Listening is the one action that cannot go badly wrong without a belief. Rollouts that open doors at
    /// random lose hundreds, and the search takes very long to see past them.
    #[inline]
    fn preferred(&self, _tiger: &usize, _action: usize, _observation: usize) -> Actions {
        Actions::Bits(1 << LISTEN)
    }
}
