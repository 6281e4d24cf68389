//! What a planner may know about PocMan, as in Silver and Veness (2010).

use super::{Pocman, State};
use crate::rng::Rng;
use crate::simulate::planning::{Actions, Planning};

/// A transform puts food on a cell nearby with this probability: half of the prior, since cells nearby have
/// often been visited.
const FOOD_NEARBY: f64 = 0.25;

impl Planning for Pocman {
    fn reward_range(&self) -> f64 {
        100.0
    }

    #[inline]
    fn legal(&self, state: &State) -> Actions {
        Actions::Bits(u64::from(self.maze.exits[state.pocman as usize]))
    }

    /// Towards a visible ghost while powered; otherwise neither towards a visible ghost nor back.
    ///
    /// The authors' released code hunts only a ghost that is visible to the North, by a slip of operator
    /// precedence; DESPOT mended it, and so do we.
    #[inline]
    fn preferred(&self, state: &State, action: usize, observation: usize) -> Actions {
        let (visible, back) = (observation as u8 & 15, (action as u8 + 2) % 4);
        Actions::Bits(self.maze.sensible(state.pocman, visible, back, state.power > 0).into())
    }

    /// One or two ghosts go anywhere, and the food around pocman is drawn anew. Only the last observation is
    /// checked, not the whole history.
    fn perturb(&self, state: &mut State, observation: usize, rng: &mut Rng) -> bool {
        if !self.maze.scatter(&mut state.ghosts[..self.ghost_starts.len()], state.pocman, rng) {
            return false;
        }
        for word in 0..3 {
            let mut around =
                self.nearby[state.pocman as usize][word] & self.eligible[word] & !self.pills[word];
            while around != 0 {
                let cell = around & around.wrapping_neg();
                around ^= cell;
                state.food[word] &= !cell;
                if word * 64 + cell.trailing_zeros() as usize != state.pocman as usize
                    && rng.chance(FOOD_NEARBY)
                {
                    state.food[word] |= cell;
                }
            }
        }
        state.food_left = state.food.iter().map(|bits| bits.count_ones() as u16).sum();
        state.food_left > 0 && self.observe(state) == observation
    }

    fn observation_distance(&self, shown: usize, observation: usize) -> u32 {
        (shown ^ observation).count_ones()
    }
}
