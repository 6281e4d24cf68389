//! Monte-Carlo tree search over histories: simulations from sampled states, UCB1 inside the tree, a rollout
//! beyond it.

use crate::error::{Error, Result};
use crate::policies::pomcp::Pomcp;
use crate::policies::pomcp::tree::{ROOT, Tree};
use crate::rng::Rng;
use crate::simulate::planning::{Actions, Planning};

/// How simulations go on beyond the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rollouts {
    /// Any action, in the tree too.
    Uniform,
    Legal,
    /// Any preferred action, or a legal one if there is none; in the tree any legal one.
    Preferred,
}

impl Rollouts {
    /// By the name that users give.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "uniform" => Ok(Rollouts::Uniform),
            "legal" => Ok(Rollouts::Legal),
            "preferred" => Ok(Rollouts::Preferred),
            _ => Err(Error::argument("rollouts", name, "choose uniform, legal or preferred")),
        }
    }
}

/// What the planner remembers of an episode: the belief about the present state and the search made from it.
#[derive(Clone, Debug)]
pub struct Search<S> {
    pub particles: Vec<S>,
    pub tree: Tree,
    /// States in which simulations entered a child of an edge of the root: the next belief, by rejection.
    pub arrivals: Vec<(u32, S)>,
    pub rng: Rng,
    /// Real steps taken so far.
    pub elapsed: usize,
}

impl<S> Search<S> {
    /// Mean return after each action; −∞ for actions that were not tried.
    pub fn values(&self, n_actions: usize) -> Vec<f64> {
        let mut values = vec![f64::NEG_INFINITY; n_actions];
        for edge in self.tree.edges_of(ROOT).iter().filter(|edge| edge.visits > 0) {
            values[edge.action as usize] = edge.value;
        }
        values
    }

    /// The action of greatest value; none if the belief was lost.
    pub fn best_action(&self) -> Option<usize> {
        let tried = self.tree.edges_of(ROOT).iter().filter(|edge| edge.visits > 0);
        tried.max_by(|a, b| a.value.total_cmp(&b.value)).map(|edge| edge.action as usize)
    }
}

impl<E: Planning> Pomcp<E> {
    /// The search before the first action.
    pub fn begin(&self, mut rng: Rng) -> Search<E::State> {
        let particles = (0..self.settings.particles).map(|_| self.world.start(&mut rng)).collect();
        self.search(particles, rng, 0)
    }

    /// The same of an episode that showed `observation`.
    pub fn opened(&self, old: &Search<E::State>, observation: usize) -> Search<E::State> {
        if !self.world.shows_first() {
            return old.clone();
        }
        let mut rng = old.rng.clone();
        let particles = self.first_particles(old, observation, &mut rng);
        self.search(particles, rng, 0)
    }

    /// The search of the next step. Only the belief is carried over: the authors' program, too,
    /// throws the old tree away.
    pub fn next(&self, old: &Search<E::State>, action: usize, observation: usize) -> Search<E::State> {
        let mut rng = old.rng.clone();
        let particles = self.next_particles(old, action, observation, &mut rng);
        self.search(particles, rng, old.elapsed + 1)
    }

    fn search(&self, particles: Vec<E::State>, rng: Rng, elapsed: usize) -> Search<E::State> {
        let n_actions = self.world.n_actions();
        let legal = particles.first().map_or(Actions::All, |state| self.legal(state));
        let simulations = if particles.is_empty() { 0 } else { self.settings.simulations };
        let tree = Tree::new(n_actions, legal, simulations + 1);
        let arrivals = Vec::with_capacity(simulations);
        let mut search = Search { particles, tree, arrivals, rng, elapsed };
        let depth = self.settings.depth(elapsed);
        let mut path = Vec::with_capacity(depth);
        for _ in 0..simulations {
            self.simulate(&mut search, depth, &mut path);
        }
        search
    }

    /// One simulation: down the tree by UCB1 until a new history, which is added; on by rollout; then the
    /// return is recorded along the `path` of (node, edge, reward).
    fn simulate(&self, search: &mut Search<E::State>, depth: usize, path: &mut Vec<(usize, usize, f64)>) {
        let Search { particles, tree, arrivals, rng, .. } = search;
        let mut state = particles[rng.below(particles.len())].clone();
        let (mut node, mut total) = (ROOT, 0.0);
        path.clear();
        while path.len() < depth {
            let edge = tree.select(node, self.exploration, rng);
            let action = tree.edge(edge).action as usize;
            let outcome = self.world.step(&mut state, action, rng);
            path.push((node, edge, outcome.reward));
            if outcome.terminated {
                break;
            }
            let known = tree.child(edge, outcome.observation);
            let child = known.unwrap_or_else(|| tree.grow(edge, outcome.observation, self.legal(&state)));
            if node == ROOT {
                arrivals.push((child as u32, state.clone()));
            }
            if known.is_none() {
                let left = depth - path.len();
                total = self.rollout(&mut state, (action, outcome.observation), left, rng);
                break;
            }
            node = child;
        }
        for &(node, edge, reward) in path.iter().rev() {
            total = reward + self.settings.discount * total;
            tree.record(node, edge, total);
        }
    }

    /// Discounted return of the rollout policy after `last` = (action, observation).
    fn rollout(&self, state: &mut E::State, last: (usize, usize), most: usize, rng: &mut Rng) -> f64 {
        let n_actions = self.world.n_actions();
        let (mut total, mut weight) = (0.0, 1.0);
        let (mut action, mut observation) = last;
        for _ in 0..most {
            let mut choice = match self.settings.rollouts {
                Rollouts::Preferred => self.world.preferred(state, action, observation),
                Rollouts::Legal => self.world.legal(state),
                Rollouts::Uniform => Actions::All,
            };
            if choice.is_empty() {
                choice = self.world.legal(state);
            }
            action = choice.pick(n_actions, rng);
            let outcome = self.world.step(state, action, rng);
            total += weight * outcome.reward;
            if outcome.terminated {
                return total;
            }
            weight *= self.settings.discount;
            observation = outcome.observation;
        }
        total
    }

    /// Actions that the tree considers.
    #[inline]
    fn legal(&self, state: &E::State) -> Actions {
        if self.settings.rollouts == Rollouts::Uniform { Actions::All } else { self.world.legal(state) }
    }
}
