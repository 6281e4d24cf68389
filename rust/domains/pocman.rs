//! PocMan of Silver and Veness (2010), rules as in the authors' released planner.

use crate::domains::compass_names;
use crate::domains::maze::{Ghost, Maze, NONE};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};

const FULL: &str = "\
.................
.##.###.#.###.##.
o...............o
.##.#.#####.#.##.
....#...#...#....
###.###.#.###.###
###.#       #.###
###.# #   # #.###
   .# #   # #.   
###.# ##### #.###
###.#       #.###
###.#.#####.#.###
.................
.##.###.#.###.##.
o.#...........#.o
#.#.#.#####.#.#.#
....#...#...#....
.######.#.######.
.................";

const MINI: &str = "\
....##....
.##.##.##.
.#......#.
...#..#...
.#.#  #.#.
.#.#  #.#.
...####...
.#......#.
.##.##.##.
....##....";

const MICRO: &str = "\
.......
..#.#..
.#...#.
...#...
.#...#.
..#.#..
.......";

const CHASE: f64 = 0.75;
const SLIP: f64 = 0.25;
const POWER_STEPS: u8 = 15;
const HEARING: i16 = 2;
const MAX_GHOSTS: usize = 4;

/// A set of cells; the largest maze has 189.
pub type CellSet = [u64; 3];

fn set_of(cells: &[u8]) -> CellSet {
    let mut set = [0; 3];
    cells.iter().for_each(|&cell| set[cell as usize / 64] |= 1 << (cell % 64));
    set
}

fn contains(set: &CellSet, cell: u8) -> bool {
    set[cell as usize / 64] >> (cell % 64) & 1 == 1
}

/// Everything that changes in an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub(crate) pocman: u8,
    pub(crate) ghosts: [Ghost; MAX_GHOSTS],
    pub(crate) food: CellSet,
    pub(crate) food_left: u16,
    pub(crate) power: u8,
}

/// The reward is −1 a step, −25 for a wall, +10 for food, +25 for an eaten ghost, −100 for being caught and
/// +1000 for clearing the maze.
pub struct Pocman {
    pub(crate) maze: Maze,
    home: u8,
    ghost_home: u8,
    ghost_starts: Vec<u8>,
    ghost_range: i16,
    pills: CellSet,
    eligible: CellSet,
    nearby: Vec<CellSet>,
}

impl Pocman {
    /// The mazes are called "full", "mini" and "micro".
    pub fn named(maze: &str) -> Result<Self> {
        // Places are (x, y) with y counted from the bottom, as the game's own papers draw them.
        match maze {
            "full" => Ok(Self::build(FULL, Some(10), (8, 6), (8, 10), 4, 6)),
            "mini" => Ok(Self::build(MINI, Some(5), (4, 2), (4, 4), 3, 4)),
            "micro" => Ok(Self::build(MICRO, None, (3, 0), (3, 4), 1, 3)),
            _ => Err(Error::argument("maze", maze, "choose full, mini or micro")),
        }
    }

    fn build(
        map: &str,
        passage: Option<usize>,
        home: (usize, usize),
        ghost_home: (usize, usize),
        n_ghosts: usize,
        ghost_range: i16,
    ) -> Self {
        let top = map.lines().count() - 1;
        let maze = Maze::parse(map, passage.map(|y| top - y));
        let at = |(x, y): (usize, usize)| maze.cell(top - y, x);
        let ghost_starts = (0..n_ghosts).map(|g| at((ghost_home.0 + g % 2, ghost_home.1 + g / 2))).collect();
        let pills = set_of(&maze.cells_with(|tile| tile == b'o'));
        let eligible = set_of(&maze.cells_with(|tile| tile == b'o' || tile == b'.'));
        let block = |cell: usize| {
            let (row, column) = maze.places[cell];
            let close = |&other: &u8| {
                let (r, c) = maze.places[other as usize];
                (r - row).abs() <= 1 && (c - column).abs() <= 1
            };
            set_of(&(0..maze.len() as u8).filter(close).collect::<Vec<_>>())
        };
        let nearby = (0..maze.len()).map(block).collect();
        let (home, ghost_home) = (at(home), at(ghost_home));
        Pocman { maze, home, ghost_home, ghost_starts, ghost_range, pills, eligible, nearby }
    }

    /// The cell at (x, y), y counted from the bottom.
    #[cfg(test)]
    fn at(&self, x: usize, y: usize) -> u8 {
        let top = self.maze.places.iter().map(|place| place.0).max().unwrap() as usize;
        self.maze.cell(top - y, x)
    }

    #[inline]
    fn move_ghost(&self, ghost: &mut Ghost, pocman: u8, power: u8, rng: &mut Rng) {
        if self.maze.distance(pocman, ghost.cell) >= self.ghost_range {
            self.maze.wander(ghost, rng);
        } else if power == 0 {
            if rng.chance(CHASE) { self.chase(ghost, pocman) } else { self.maze.wander(ghost, rng) }
        } else {
            // The coin is drawn first, whether or not a stored direction lets it count.
            let slips = rng.chance(SLIP);
            if slips && ghost.last != NONE { ghost.last = NONE } else { self.flee(ghost, pocman) }
        }
    }

    /// Nearest along an axis, ties to the later direction. As in the original, the direction is not stored.
    #[inline]
    fn chase(&self, ghost: &mut Ghost, pocman: u8) {
        let onward = self.maze.onward(ghost.cell, ghost.last);
        let signed = self.maze.signed_distances(ghost.cell, pocman);
        let closest = (0..4u8).filter(|d| onward >> d & 1 == 1).min_by_key(|&d| (signed[d as usize], 4 - d));
        *ghost = Ghost { cell: self.maze.ahead(ghost.cell, closest.unwrap_or(0)), last: NONE };
    }

    /// Farthest along an axis among directions that do not lead closer, ties to the later; stays if none.
    #[inline]
    fn flee(&self, ghost: &mut Ghost, pocman: u8) {
        let onward = self.maze.onward(ghost.cell, ghost.last);
        let signed = self.maze.signed_distances(ghost.cell, pocman);
        let away = |d: &u8| onward >> d & 1 == 1 && signed[*d as usize] >= 0;
        if let Some(direction) = (0..4u8).filter(away).max_by_key(|&d| (signed[d as usize], d)) {
            ghost.cell = self.maze.ahead(ghost.cell, direction);
        }
        ghost.last = NONE;
    }

    #[inline]
    fn observe(&self, state: &State) -> usize {
        let (mut seen, mut heard) = (0, false);
        for ghost in &state.ghosts[..self.ghost_starts.len()] {
            seen |= self.maze.seen_from(state.pocman, ghost.cell);
            heard |= self.maze.distance(state.pocman, ghost.cell) <= HEARING;
        }
        let near = &self.nearby[state.pocman as usize];
        let smells = (0..3).any(|word| near[word] & state.food[word] != 0);
        usize::from(seen)
            | usize::from(self.maze.exits[state.pocman as usize]) << 4
            | usize::from(smells) << 8
            | usize::from(heard) << 9
    }
}

impl Environment for Pocman {
    type State = State;

    fn n_actions(&self) -> usize {
        4
    }

    fn n_observations(&self) -> usize {
        1024
    }

    fn start(&self, rng: &mut Rng) -> State {
        let mut food = [0; 3];
        for (word, bits) in food.iter_mut().enumerate() {
            // Every bit of a random word is a fair coin: food probability 0.5.
            *bits = (rng.next_u64() & self.eligible[word]) | self.pills[word];
        }
        let mut ghosts = [Ghost { cell: self.ghost_home, last: NONE }; MAX_GHOSTS];
        for (ghost, &cell) in ghosts.iter_mut().zip(&self.ghost_starts) {
            ghost.cell = cell;
        }
        let food_left = food.iter().map(|bits| bits.count_ones() as u16).sum();
        State { pocman: self.home, ghosts, food, food_left, power: 0 }
    }

    #[inline]
    fn step(&self, state: &mut State, action: usize, rng: &mut Rng) -> Outcome {
        let mut reward = -1.0;
        if self.maze.can_go(state.pocman, action as u8) {
            state.pocman = self.maze.ahead(state.pocman, action as u8);
        } else {
            reward -= 25.0;
        }
        state.power = state.power.saturating_sub(1);
        let mut hit = None;
        for g in 0..self.ghost_starts.len() {
            // Both before and after the ghost's move: they cannot pass through each other.
            let ghost = &mut state.ghosts[g];
            let met = ghost.cell == state.pocman;
            self.move_ghost(ghost, state.pocman, state.power, rng);
            if met || ghost.cell == state.pocman {
                hit = Some(g);
            }
        }
        if let Some(g) = hit {
            if state.power == 0 {
                return Outcome { observation: 0, reward: reward - 100.0, terminated: true };
            }
            reward += 25.0;
            state.ghosts[g] = Ghost { cell: self.ghost_home, last: NONE };
        }
        let observation = self.observe(state);
        if contains(&state.food, state.pocman) {
            state.food[state.pocman as usize / 64] &= !(1 << (state.pocman % 64));
            state.food_left -= 1;
            if state.food_left == 0 {
                return Outcome { observation, reward: reward + 1000.0, terminated: true };
            }
            if contains(&self.pills, state.pocman) {
                state.power = POWER_STEPS;
            }
            reward += 10.0;
        }
        Outcome { observation, reward, terminated: false }
    }

    fn action_name(&self, action: usize) -> String {
        crate::domains::COMPASS[action].into()
    }

    fn observation_name(&self, observation: usize) -> String {
        let mut name =
            format!("ghost {}, free {}", compass_names(observation), compass_names(observation >> 4));
        if observation >> 8 & 1 == 1 {
            name += ", smells food";
        }
        if observation >> 9 & 1 == 1 {
            name += ", hears ghost";
        }
        name
    }

    fn render(&self, state: &State) -> String {
        let food = (0..self.maze.len() as u8).filter(|&cell| contains(&state.food, cell));
        let food = food.map(|cell| (cell, if contains(&self.pills, cell) { 'o' } else { '.' }));
        let ghosts = state.ghosts[..self.ghost_starts.len()].iter();
        let ghosts = ghosts.map(|ghost| (ghost.cell, if state.power > 0 { 'g' } else { 'G' }));
        self.maze.render(food.chain(ghosts).chain([(state.pocman, '@')]))
    }
}

mod planning;
#[cfg(test)]
mod tests;
