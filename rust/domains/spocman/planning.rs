//! What a planner may know about S-PocMan: the same advice as for PocMan, in this game's terms.

use super::{Spocman, State};
use crate::domains::maze::NONE;
use crate::rng::Rng;
use crate::simulate::planning::{Actions, Planning};

/// Actions count N, E, W, S where directions count N, E, S, W: exchange bits 2 and 3.
#[inline]
fn actions_of(directions: u8) -> u64 {
    u64::from(directions & 3 | directions >> 1 & 4 | directions << 1 & 8)
}

impl Planning for Spocman {
    /// A pellet. Measured with 256 legal simulations over 100 episodes: 100 gives 246 ± 23, 300 gives 243 ± 28,
    /// 500 gives 207 ± 23; the last pellet's 1000 is so rare that exploring for it costs more than it brings.
    fn reward_range(&self) -> f64 {
        100.0
    }

    #[inline]
    fn legal(&self, state: &State) -> Actions {
        Actions::Bits(actions_of(self.maze.exits[state.pacman as usize]))
    }

    /// Towards a visible ghost while powered; otherwise neither towards a visible ghost nor back.
    #[inline]
    fn preferred(&self, state: &State, action: usize, observation: usize) -> Actions {
        let visible = actions_of((observation >> 4) as u8 & 15);
        if state.power >= 0 && visible != 0 {
            return Actions::Bits(visible);
        }
        let back = 1 << (3 - action);
        Actions::Bits(actions_of(self.maze.exits[state.pacman as usize]) & !visible & !back)
    }

    /// One or two ghosts go anywhere: all else follows from the actions, so every particle has it right.
    fn perturb(&self, state: &mut State, observation: usize, rng: &mut Rng) -> bool {
        for _ in 0..=rng.below(2) {
            let ghost = &mut state.ghosts[rng.below(4)];
            (ghost.cell, ghost.last) = (rng.below(self.maze.len()) as u8, NONE);
            if ghost.cell == state.pacman {
                return false;
            }
        }
        self.observe(state) == observation
    }

    fn observation_distance(&self, shown: usize, observation: usize) -> u32 {
        (shown ^ observation).count_ones()
    }
}
