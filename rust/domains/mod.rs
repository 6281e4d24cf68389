//! The worlds, one file each, and the closed set of them.

mod rows;
pub mod tabular;
pub mod tiger;
pub mod gridworld;
mod maze;
pub mod pocman;
pub mod spocman;

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};
use tabular::Tabular;

/// Any world of the package. Calls are dispatched once per batch of episodes, so the inner loops are
/// compiled for each world on its own.
pub enum World {
    Tiger(Arc<tiger::Tiger>),
    Gridworld(Arc<gridworld::Gridworld>),
    Pocman(Arc<pocman::Pocman>),
    Spocman(Arc<spocman::Spocman>),
    Tabular(Arc<Tabular>),
}

/// Evaluates `$body` with `$environment` bound to the world inside, an `Arc`.
#[macro_export]
macro_rules! with_world {
    ($world:expr, $environment:ident => $body:expr) => {
        match $world {
            $crate::domains::World::Tiger($environment) => $body,
            $crate::domains::World::Gridworld($environment) => $body,
            $crate::domains::World::Pocman($environment) => $body,
            $crate::domains::World::Spocman($environment) => $body,
            $crate::domains::World::Tabular($environment) => $body,
        }
    };
}

/// Evaluates `$body` with a world and the state that it made, which is passed as it was given.
macro_rules! with_state {
    ($world:expr, $given:expr, |$environment:ident, $state:ident| $body:expr) => {
        match ($world, $given) {
            (World::Tiger($environment), WorldState::Small($state)) => $body,
            (World::Gridworld($environment), WorldState::Small($state)) => $body,
            (World::Tabular($environment), WorldState::Small($state)) => $body,
            (World::Pocman($environment), WorldState::Pocman($state)) => $body,
            (World::Spocman($environment), WorldState::Spocman($state)) => $body,
            _ => unreachable!("a state belongs to the world that made it"),
        }
    };
}

impl World {
    /// A world by its name, and by that of its map, maze or ghosts where there are several.
    pub fn named(name: &str, variant: &str) -> Result<World> {
        match name {
            "tiger" => Ok(World::Tiger(Arc::new(tiger::Tiger))),
            "gridworld" => gridworld::Gridworld::named(variant).map(Arc::new).map(World::Gridworld),
            "pocman" => pocman::Pocman::named(variant).map(Arc::new).map(World::Pocman),
            "spocman" => spocman::Spocman::named(variant).map(Arc::new).map(World::Spocman),
            _ => Err(Error::argument("name", name, "choose tiger, gridworld, pocman or spocman")),
        }
    }

    /// The world's arrays, where its states can be listed.
    pub fn tabular(&self) -> Option<Cow<'_, Tabular>> {
        match self {
            World::Tiger(tiger) => Some(Cow::Owned(tiger.tabular())),
            World::Gridworld(gridworld) => Some(Cow::Owned(gridworld.tabular())),
            World::Tabular(tabular) => Some(Cow::Borrowed(tabular)),
            World::Pocman(_) | World::Spocman(_) => None,
        }
    }
}

/// Directions of a compass, in the order of the bits of every observation that speaks of them.
pub const COMPASS: [&str; 4] = ["N", "E", "S", "W"];

/// The directions whose bits are set, as "N W"; "-" for none.
pub fn compass_names(bits: usize) -> String {
    let names: Vec<&str> = (0..4).filter(|d| bits >> d & 1 == 1).map(|d| COMPASS[d]).collect();
    if names.is_empty() { "-".into() } else { names.join(" ") }
}

/// State of any world, for episodes that are stepped by hand.
#[derive(Clone)]
pub enum WorldState {
    Small(usize),
    Pocman(pocman::State),
    Spocman(spocman::State),
}

impl Environment for World {
    type State = WorldState;

    fn n_actions(&self) -> usize {
        with_world!(self, environment => environment.n_actions())
    }

    fn n_observations(&self) -> usize {
        with_world!(self, environment => environment.n_observations())
    }

    fn start(&self, rng: &mut Rng) -> WorldState {
        match self {
            World::Tiger(world) => WorldState::Small(world.start(rng)),
            World::Gridworld(world) => WorldState::Small(world.start(rng)),
            World::Tabular(world) => WorldState::Small(world.start(rng)),
            World::Pocman(world) => WorldState::Pocman(world.start(rng)),
            World::Spocman(world) => WorldState::Spocman(world.start(rng)),
        }
    }

    fn shows_first(&self) -> bool {
        with_world!(self, environment => environment.shows_first())
    }

    fn first_observation(&self, state: &WorldState, rng: &mut Rng) -> Option<usize> {
        with_state!(self, state, |world, state| world.first_observation(state, rng))
    }

    fn step(&self, state: &mut WorldState, action: usize, rng: &mut Rng) -> Outcome {
        with_state!(self, state, |world, state| world.step(state, action, rng))
    }

    fn action_name(&self, action: usize) -> String {
        with_world!(self, environment => environment.action_name(action))
    }

    fn observation_name(&self, observation: usize) -> String {
        with_world!(self, environment => environment.observation_name(observation))
    }

    fn render(&self, state: &WorldState) -> String {
        with_state!(self, state, |world, state| world.render(state))
    }
}
