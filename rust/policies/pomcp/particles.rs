//! The belief as particles: filtered by what was seen, refilled, and given new blood.

use crate::policies::pomcp::Pomcp;
use crate::policies::pomcp::search::Search;
use crate::policies::pomcp::tree::ROOT;
use crate::rng::Rng;
use crate::simulate::environment::Outcome;
use crate::simulate::planning::Planning;

/// One particle in so many comes from a perturbed state, as in the authors' program: without them a belief
/// that missed the truth once would miss it for ever.
const SHARE_PERTURBED: usize = 16;

/// Attempts per particle wanted. One attempt is one simulated step, while a simulation is tens of them.
const PATIENCE: usize = 8;

/// Attempts per particle wanted when there is none at all.
const DESPERATION: usize = 1000;

impl<E: Planning> Pomcp<E> {
    /// Particles of the state after `action` and `observation`.
    ///
    /// First the states of simulations that took the same course; then perturbed ones; then more by rejection,
    /// until there are as many as wanted or patience ends. If there is none, many more perturbed states are
    /// tried, and at last the particles whose observations come nearest to the real one are taken. The result is
    /// empty only if the episode should have ended in every particle.
    pub fn next_particles(
        &self,
        old: &Search<E::State>,
        action: usize,
        observation: usize,
        rng: &mut Rng,
    ) -> Vec<E::State> {
        let wanted = self.settings.particles;
        let fresh = wanted.div_ceil(SHARE_PERTURBED);
        let mut particles = arrived(old, action, observation);
        particles.truncate(wanted);
        if old.particles.is_empty() {
            return particles;
        }
        let perturbed = |rng: &mut Rng| {
            let (mut state, _) = self.step_one(old, action, rng)?;
            self.world.perturb(&mut state, observation, rng).then_some(state)
        };
        let rejected = |rng: &mut Rng| {
            let (state, outcome) = self.step_one(old, action, rng)?;
            (outcome.observation == observation).then_some(state)
        };
        let missing = wanted - particles.len();
        gather(&mut particles, fresh, fresh * PATIENCE, || perturbed(rng));
        gather(&mut particles, missing.saturating_sub(fresh), missing * PATIENCE, || rejected(rng));
        if particles.is_empty() {
            gather(&mut particles, fresh, fresh * DESPERATION, || perturbed(rng));
        }
        if particles.is_empty() { self.nearest(old, action, observation, rng) } else { particles }
    }

    /// Start states that showed `observation` before the first action, by rejection; the old ones if none did.
    pub fn first_particles(
        &self,
        old: &Search<E::State>,
        observation: usize,
        rng: &mut Rng,
    ) -> Vec<E::State> {
        let (wanted, mut particles) = (self.settings.particles, Vec::new());
        gather(&mut particles, wanted, wanted.saturating_mul(DESPERATION), || {
            let state = self.world.start(rng);
            (self.world.first_observation(&state, rng) == Some(observation)).then_some(state)
        });
        if particles.is_empty() { old.particles.clone() } else { particles }
    }

    /// A particle of the old belief one step on, unless the episode ended there.
    fn step_one(&self, old: &Search<E::State>, action: usize, rng: &mut Rng) -> Option<(E::State, Outcome)> {
        let mut state = old.particles[rng.below(old.particles.len())].clone();
        let outcome = self.world.step(&mut state, action, rng);
        (!outcome.terminated).then_some((state, outcome))
    }

    fn nearest(
        &self,
        old: &Search<E::State>,
        action: usize,
        observation: usize,
        rng: &mut Rng,
    ) -> Vec<E::State> {
        let (mut closest, mut particles) = (u32::MAX, Vec::new());
        for _ in 0..self.settings.particles * PATIENCE {
            let Some((state, outcome)) = self.step_one(old, action, rng) else { continue };
            let distance = self.world.observation_distance(outcome.observation, observation);
            if distance < closest {
                closest = distance;
                particles.clear();
            }
            if distance == closest && particles.len() < self.settings.particles {
                particles.push(state);
            }
        }
        particles
    }
}

/// States in which simulations of the old search made this step.
fn arrived<S: Clone>(old: &Search<S>, action: usize, observation: usize) -> Vec<S> {
    let place = old.tree.edges_of(ROOT).iter().position(|edge| edge.action as usize == action);
    // The root's edges are the first of all.
    let Some(child) = place.and_then(|edge| old.tree.child(edge, observation)) else { return Vec::new() };
    let here = old.arrivals.iter().filter(|(node, _)| *node as usize == child);
    here.map(|(_, state)| state.clone()).collect()
}

/// Adds up to `wanted` states in `attempts` tries.
fn gather<S>(into: &mut Vec<S>, wanted: usize, attempts: usize, mut attempt: impl FnMut() -> Option<S>) {
    let full = into.len() + wanted;
    for _ in 0..attempts {
        if into.len() >= full {
            break;
        }
        into.extend(attempt());
    }
}
