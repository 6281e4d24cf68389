//! What a world offers a planner that searches with it as a simulator.

use crate::rng::Rng;
use crate::simulate::environment::Environment;

/// A set of actions. Bits suffice for worlds that restrict their moves; all others may have any number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Actions {
    All,
    Bits(u64),
}

impl Actions {
    #[inline]
    pub fn is_empty(self) -> bool {
        self == Actions::Bits(0)
    }

    #[inline]
    pub fn contains(self, action: usize) -> bool {
        match self {
            Actions::All => true,
            Actions::Bits(bits) => bits >> action & 1 == 1,
        }
    }

    /// One of them, all alike; the set must not be empty.
    #[inline]
    pub fn pick(self, n_actions: usize, rng: &mut Rng) -> usize {
        match self {
            Actions::All => rng.below(n_actions),
            Actions::Bits(bits) => {
                let mut rest = bits;
                for _ in 0..rng.below(bits.count_ones() as usize) {
                    rest &= rest - 1;
                }
                rest.trailing_zeros() as usize
            }
        }
    }
}

/// Domain knowledge for planners; every default is "none".
pub trait Planning: Environment {
    /// The largest difference in reward that is worth exploring for: the constant of UCB1.
    fn reward_range(&self) -> f64;

    /// Actions that make sense in this state; never empty.
    #[inline]
    fn legal(&self, _state: &Self::State) -> Actions {
        Actions::All
    }

    /// Actions that a sensible player would choose from, having done `action` and seen `observation`. May be
    /// empty; the planner then falls back on the legal ones.
    #[inline]
    fn preferred(&self, state: &Self::State, _action: usize, _observation: usize) -> Actions {
        self.legal(state)
    }

    /// Moves a state that a particle has just reached to a similar one, to give a starved belief new blood.
    /// True if the result would emit `observation`; otherwise the state is to be thrown away.
    fn perturb(&self, _state: &mut Self::State, _observation: usize, _rng: &mut Rng) -> bool {
        false
    }

    /// How far a particle that shows `shown` is from one that would show `observation`; 0 only if equal.
    fn observation_distance(&self, shown: usize, observation: usize) -> u32 {
        u32::from(shown != observation)
    }
}
