//! S-PocMan: sparse pellets, no smell, no hearing (Hamilton, Fard and Pineau, 2014).

use crate::domains::compass_names;
use crate::domains::maze::{EAST, Ghost, Maze, NONE, NORTH, SOUTH, WEST};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::planning::{Actions, Planning};

/// `*` pellet, `o` power pill, `<` and `>` the mouths of the tunnel.
const MAP: &str = "\
###################
#  *     *     *  #
# ## ### # ### ## #
#o               o#
# ## # ##### # ## #
#    #   #   #    #
#### ### # ### ####
#### #       # ####
#### # # * # # ####
<    # #   # #    >
#### # ##### # ####
#### #       # ####
#### # ##### # ####
#                 #
# ## ### # ### ## #
#o #           # o#
## # # ##### # # ##
# *  #   #   #  * #
# ###### # ###### #
#        *        #
###################";

const TUNNEL_ROW: usize = 9;
const GHOST_STARTS: [(usize, usize); 4] = [(8, 9), (8, 10), (9, 9), (9, 10)];
const PACMAN_START: (usize, usize) = (13, 9);

/// Actions count N, E, W, S, while bits of observations count N, E, S, W.
const DIRECTION_OF_ACTION: [u8; 4] = [NORTH, EAST, WEST, SOUTH];
const ACTIONS: [&str; 4] = ["N", "E", "W", "S"];
const GHOST_RANGE: i16 = 5;
const DIRECTED: f64 = 0.75;
const POWER_STEPS: i8 = 15;

/// How a ghost near pacman picks its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GhostRule {
    /// As in the released code, where the best direction so far is never updated: the last possible one of
    /// N, E, W, S wins, wherever pacman is.
    Published,
    /// As intended: towards pacman, or away from it while it is powered.
    Chasing,
}

/// Everything that changes in an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub(crate) pacman: u8,
    pub(crate) ghosts: [Ghost; 4],
    /// Bit i: pellet i (pill i) is still there.
    pub pellets: u8,
    pub(crate) pills: u8,
    /// Powered while this is not negative.
    pub power: i8,
}

/// The reward is −1 a step, −10 for a wall, +100 a pellet and +1000 more for the last, +25 for each ghost met
/// while powered, −50 for each otherwise.
pub struct Spocman {
    pub(crate) maze: Maze,
    rule: GhostRule,
    ghost_starts: [u8; 4],
    pacman_start: u8,
    pellets: Vec<u8>,
    pills: Vec<u8>,
}

impl Spocman {
    /// The ghosts are called "published" and "chasing".
    pub fn named(ghosts: &str) -> Result<Self> {
        let rule = match ghosts {
            "published" => GhostRule::Published,
            "chasing" => GhostRule::Chasing,
            _ => return Err(Error::argument("ghosts", ghosts, "choose published or chasing")),
        };
        let maze = Maze::parse(MAP, Some(TUNNEL_ROW));
        let at = |(row, column)| maze.cell(row, column);
        Ok(Spocman {
            rule,
            ghost_starts: GHOST_STARTS.map(at),
            pacman_start: at(PACMAN_START),
            pellets: maze.cells_with(|tile| tile == b'*'),
            pills: maze.cells_with(|tile| tile == b'o'),
            maze,
        })
    }

    /// Ghosts move before pacman does, so they see the old place and the old power.
    #[inline]
    fn move_ghost(&self, ghost: &mut Ghost, pacman: u8, powered: bool, rng: &mut Rng) {
        if self.maze.distance(ghost.cell, pacman) > GHOST_RANGE {
            self.maze.wander(ghost, rng);
        } else if rng.chance(DIRECTED) {
            let direction = self.directed(*ghost, pacman, powered);
            *ghost = Ghost { cell: self.maze.ahead(ghost.cell, direction), last: direction };
        } else {
            if !powered {
                self.maze.wander(ghost, rng);
            }
            ghost.last = NONE;
        }
    }

    #[inline]
    fn directed(&self, ghost: Ghost, pacman: u8, powered: bool) -> u8 {
        let onward = self.maze.onward(ghost.cell, ghost.last);
        let mut possible = DIRECTION_OF_ACTION.into_iter().filter(|d| onward >> d & 1 == 1);
        let chosen = match self.rule {
            GhostRule::Published => possible.next_back(),
            GhostRule::Chasing => {
                let signed = self.maze.signed_distances(ghost.cell, pacman);
                let worth = |d: &u8| if powered { signed[*d as usize] } else { -signed[*d as usize] };
                // `max_by_key` keeps the last of equals: ties go to the later direction.
                possible.max_by_key(worth)
            }
        };
        chosen.unwrap_or(NORTH)
    }

    #[inline]
    fn observe(&self, state: &State) -> usize {
        let walls = !self.maze.exits[state.pacman as usize] & 15;
        let seen =
            state.ghosts.iter().fold(0, |seen, ghost| seen | self.maze.seen_from(state.pacman, ghost.cell));
        usize::from(walls) | usize::from(seen) << 4 | usize::from(state.power >= 0) << 8
    }
}

/// Takes the thing at `cell` out of the set of those still there, if it is.
#[inline]
fn take(left: &mut u8, things: &[u8], cell: u8) -> bool {
    let here = things.iter().position(|&thing| thing == cell).map_or(0, |index| *left & 1 << index);
    *left &= !here;
    here != 0
}

impl Environment for Spocman {
    type State = State;

    fn n_actions(&self) -> usize {
        4
    }

    fn n_observations(&self) -> usize {
        512
    }

    fn start(&self, _rng: &mut Rng) -> State {
        State {
            pacman: self.pacman_start,
            ghosts: self.ghost_starts.map(|cell| Ghost { cell, last: NONE }),
            pellets: (1 << self.pellets.len()) - 1,
            pills: (1 << self.pills.len()) - 1,
            power: 0,
        }
    }

    #[inline]
    fn step(&self, state: &mut State, action: usize, rng: &mut Rng) -> Outcome {
        for ghost in &mut state.ghosts {
            self.move_ghost(ghost, state.pacman, state.power >= 0, rng);
        }
        if state.power >= 0 {
            state.power -= 1;
        }
        let mut reward = -1.0;
        let direction = DIRECTION_OF_ACTION[action];
        if self.maze.can_go(state.pacman, direction) {
            state.pacman = self.maze.ahead(state.pacman, direction);
        } else {
            reward -= 10.0;
        }
        let mut terminated = false;
        for (ghost, &start) in state.ghosts.iter_mut().zip(&self.ghost_starts) {
            if ghost.cell == state.pacman {
                if state.power >= 0 {
                    reward += 25.0;
                    ghost.cell = start;
                } else {
                    reward -= 50.0;
                    terminated = true;
                }
            }
        }
        if take(&mut state.pellets, &self.pellets, state.pacman) {
            reward += 100.0;
            if state.pellets == 0 {
                reward += 1000.0;
                terminated = true;
            }
        } else if take(&mut state.pills, &self.pills, state.pacman) {
            state.power = POWER_STEPS;
        }
        Outcome { observation: self.observe(state), reward, terminated }
    }

    fn action_name(&self, action: usize) -> String {
        ACTIONS[action].into()
    }

    fn observation_name(&self, observation: usize) -> String {
        let name = format!("walls {}, ghost {}", compass_names(observation), compass_names(observation >> 4));
        if observation >> 8 & 1 == 1 { name + ", powered" } else { name }
    }

    fn render(&self, state: &State) -> String {
        let left = |bits: u8, cells: &[u8], mark: char| {
            let there = cells.iter().enumerate().filter(move |(index, _)| bits >> index & 1 == 1);
            there.map(|(_, &cell)| (cell, mark)).collect::<Vec<_>>()
        };
        let mut marks = left(state.pellets, &self.pellets, '*');
        marks.extend(left(state.pills, &self.pills, 'o'));
        let ghost_mark = if state.power >= 0 { 'g' } else { 'G' };
        marks.extend(state.ghosts.iter().map(|ghost| (ghost.cell, ghost_mark)));
        marks.push((state.pacman, '@'));
        self.maze.render(marks.into_iter())
    }
}

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
        let (visible, back) = ((observation >> 4) as u8 & 15, DIRECTION_OF_ACTION[3 - action]);
        Actions::Bits(actions_of(self.maze.sensible(state.pacman, visible, back, state.power >= 0)))
    }

    /// One or two ghosts go anywhere: all else follows from the actions, so every particle has it right.
    fn perturb(&self, state: &mut State, observation: usize, rng: &mut Rng) -> bool {
        self.maze.scatter(&mut state.ghosts, state.pacman, rng) && self.observe(state) == observation
    }

    fn observation_distance(&self, shown: usize, observation: usize) -> u32 {
        (shown ^ observation).count_ones()
    }
}

#[cfg(test)]
mod tests;
