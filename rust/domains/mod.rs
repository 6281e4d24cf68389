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

    /// An episode with this random stream, and what it shows before the first action.
    pub fn begin(&self, mut rng: Rng) -> (Box<dyn Episode>, Option<usize>) {
        with_world!(self, world => {
            let state = world.start(&mut rng);
            let first = world.first_observation(&state, &mut rng);
            (Box::new(Running { world: world.clone(), state, rng }), first)
        })
    }

    pub fn n_actions(&self) -> usize {
        with_world!(self, world => world.n_actions())
    }

    pub fn n_observations(&self) -> usize {
        with_world!(self, world => world.n_observations())
    }

    pub fn shows_first(&self) -> bool {
        with_world!(self, world => world.shows_first())
    }

    pub fn action_names(&self) -> Vec<String> {
        with_world!(self, world => (0..world.n_actions()).map(|action| world.action_name(action)).collect())
    }

    pub fn observation_names(&self) -> Vec<String> {
        with_world!(self, world => (0..world.n_observations()).map(|o| world.observation_name(o)).collect())
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

/// An episode of any world that is stepped by hand.
pub trait Episode: Send + Sync {
    fn step(&mut self, action: usize) -> Outcome;
    /// The state as lines of text.
    fn render(&self) -> String;
}

struct Running<E: Environment> {
    world: Arc<E>,
    state: E::State,
    rng: Rng,
}

impl<E: Environment> Episode for Running<E> {
    fn step(&mut self, action: usize) -> Outcome {
        self.world.step(&mut self.state, action, &mut self.rng)
    }

    fn render(&self) -> String {
        self.world.render(&self.state)
    }
}
