//! POMCP (Silver and Veness, 2010): online planning with a simulator, a particle filter and UCT.

mod tree;
mod search;
mod particles;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::simulate::planning::Planning;
use crate::simulate::policy::{Described, GREEDY, Policy, Rule, key_of};
pub use search::Rollouts;
use search::Search;

/// Rewards whose weight is below this are not simulated.
const NEGLIGIBLE: f64 = 0.01;

/// Numbers above this are slips of the finger; nodes and edges are counted in 32 bits.
const MAX_SIMULATIONS: usize = 100_000_000;

/// How much is simulated before every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub(crate) simulations: usize,
    pub(crate) particles: usize,
    pub(crate) rollouts: Rollouts,
    pub(crate) discount: f64,
    /// Length of an episode. Planning does not look beyond it; a longer episode counts anew.
    pub horizon: usize,
}

impl Settings {
    pub(crate) fn validate(&self, n_actions: usize) -> Result<()> {
        let most = MAX_SIMULATIONS.min(u32::MAX as usize / n_actions - 1);
        for (name, given) in [("simulations", self.simulations), ("particles", self.particles)] {
            if given == 0 || given > most {
                return Err(Error::argument(name, given, format!("give 1 to {most}")));
            }
        }
        if !(0.0..=1.0).contains(&self.discount) {
            return Err(Error::argument("discount", self.discount, "give a number in [0, 1]"));
        }
        if self.horizon == 0 {
            return Err(Error::argument("horizon", self.horizon, "give at least one step"));
        }
        Ok(())
    }

    /// How many steps ahead to simulate after `elapsed` real ones.
    fn depth(&self, elapsed: usize) -> usize {
        let left = self.horizon - elapsed % self.horizon;
        let audible = (NEGLIGIBLE.ln() / self.discount.ln()).ceil();
        // A discount of 1 makes this −∞ or not a number, where every reward counts.
        if audible >= 1.0 {
            left.min(audible as usize)
        } else if self.discount == 0.0 {
            1
        } else {
            left
        }
    }
}

/// The planner as a policy. It thinks when it learns what happened, so its memory always holds a finished
/// search and asking for an action costs nothing.
pub struct Pomcp<E> {
    world: Arc<E>,
    settings: Settings,
    /// The constant of UCB1: weight of the bonus for actions that were tried seldom.
    pub exploration: f64,
    seed: u64,
}

impl<E: Planning> Pomcp<E> {
    /// `exploration` is the range of the world's rewards unless given.
    pub fn new(world: Arc<E>, settings: Settings, exploration: Option<f64>, seed: u64) -> Result<Self> {
        settings.validate(world.n_actions())?;
        let exploration = exploration.unwrap_or_else(|| world.reward_range());
        if !(exploration.is_finite() && exploration >= 0.0) {
            return Err(Error::argument("exploration", exploration, "give a number that is not negative"));
        }
        Ok(Pomcp { world, settings, exploration, seed })
    }
}

impl<E: Planning> Described for Pomcp<E> {
    fn n_actions(&self) -> usize {
        self.world.n_actions()
    }

    fn n_observations(&self) -> usize {
        self.world.n_observations()
    }

    fn rule(&self) -> &Rule {
        &GREEDY
    }

    fn describe(&self) -> String {
        format!("{} simulations a step", self.settings.simulations)
    }

    /// A planner cannot step the particles of another world.
    fn key(&self) -> u64 {
        key_of::<Self>(Arc::as_ptr(&self.world).addr())
    }
}

impl<E: Planning> Policy for Pomcp<E> {
    type Memory = Search<E::State>;

    const DELIBERATES: bool = true;

    fn start(&self) -> Search<E::State> {
        self.begin(Rng::stream(self.seed, 0))
    }

    fn start_with(&self, mut rng: Rng) -> Search<E::State> {
        self.begin(Rng::stream(self.seed, rng.next_u64()))
    }

    /// Mean simulated return after each action; −∞ for actions that were not tried.
    fn q_values(&self, search: &Search<E::State>, values: &mut [f64]) {
        values.copy_from_slice(&search.values(values.len()));
    }

    /// All on the best action; all alike if no particle survived.
    fn action_probs(&self, search: &Search<E::State>, probs: &mut [f64]) {
        match search.best_action() {
            Some(action) => {
                probs.fill(0.0);
                probs[action] = 1.0;
            }
            None => probs.fill(1.0 / probs.len() as f64),
        }
    }

    fn update(&self, search: &mut Search<E::State>, action: usize, observation: usize) {
        *search = match action == self.n_actions() {
            true => self.opened(search, observation),
            false => self.next(search, action, observation),
        };
    }
}

#[cfg(test)]
mod tests;
