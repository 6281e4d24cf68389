//! Grid worlds with aliased places: the paper's task from three starts, and Hamilton's map.

use crate::domains::maze::{EAST, Maze, NORTH, SOUTH, WEST};
use crate::domains::tabular::{Model, Rewards, Tabular};
use crate::domains::{COMPASS, compass_names};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::planning::Planning;

const PAPER_MAP: &str = "\
#########
#.......#
#.##.##.#
#.#...#.#
#...#...#
#.#...#.#
#.##.##.#
#......G#
#########";

const HAMILTON_MAP: &str = "\
##############
#...#........#
#.........#G.#
####......#..#
#.........#..#
#...#........#
##############";

/// Directions of the actions up, down, left, right; Hamilton's actions are the directions themselves.
const UP_DOWN_LEFT_RIGHT: [u8; 4] = [NORTH, SOUTH, WEST, EAST];

#[derive(Clone, Copy, PartialEq)]
enum Sensor {
    CountsWalls,
    FeelsEachWall,
}

/// Reaching the goal pays 1 and ends the episode. A move into a wall stays put. The observation shows
/// the walls around the cell reached.
pub struct Gridworld {
    maze: Maze,
    observe: Vec<u8>,
    /// Twenty equally likely directions per action: both slip laws have probabilities in twentieths, so one draw of an
    /// integer is exact.
    slips: [[u8; 20]; 4],
    sensor: Sensor,
    action_names: [&'static str; 4],
    start: usize,
    goal: usize,
}

impl Gridworld {
    /// The variants are called "near", "mid", "far" and "hamilton".
    pub fn named(variant: &str) -> Result<Self> {
        // With probability 0.2 a uniform direction replaces the chosen one: 17/20 for it, 1/20 for each other.
        let anywhere = |action: usize| {
            let others = UP_DOWN_LEFT_RIGHT.into_iter().filter(|&other| other != UP_DOWN_LEFT_RIGHT[action]);
            (UP_DOWN_LEFT_RIGHT[action], others.collect())
        };
        // 0.8 as chosen, 0.1 to either side.
        let sideways =
            |action: usize| (action as u8, [1, 1, 3, 3].map(|turn| (action as u8 + turn) % 4).to_vec());
        let names = ["up", "down", "left", "right"];
        let paper =
            |row, column| Self::build(PAPER_MAP, (row, column), names, slips(anywhere), Sensor::CountsWalls);
        match variant {
            "near" => Ok(paper(5, 5)),
            "mid" => Ok(paper(4, 3)),
            "far" => Ok(paper(1, 1)),
            "hamilton" => {
                Ok(Self::build(HAMILTON_MAP, (4, 9), COMPASS, slips(sideways), Sensor::FeelsEachWall))
            }
            _ => Err(Error::argument("variant", variant, "choose near, mid, far or hamilton")),
        }
    }

    fn build(
        map: &str,
        start: (usize, usize),
        action_names: [&'static str; 4],
        slips: [[u8; 20]; 4],
        sensor: Sensor,
    ) -> Self {
        let maze = Maze::parse(map, None);
        let walls = |exits: &u8| match sensor {
            Sensor::CountsWalls => 4 - exits.count_ones() as u8,
            Sensor::FeelsEachWall => !exits & 15,
        };
        let observe = maze.exits.iter().map(walls).collect();
        let (start, goal) =
            (maze.cell(start.0, start.1).into(), maze.cells_with(|tile| tile == b'G')[0].into());
        Gridworld { maze, observe, slips, sensor, action_names, start, goal }
    }

    pub(crate) fn tabular(&self) -> Tabular {
        let (states, actions, observations) = (self.maze.len(), 4, self.n_observations());
        let mut transitions = vec![0.0; actions * states * states];
        let mut emissions = vec![0.0; actions * states * observations];
        let mut rewards = vec![0.0; actions * states * states];
        for action in 0..actions {
            for state in 0..states {
                let row = (action * states + state) * states;
                for slip in self.slips[action] {
                    transitions[row + self.maze.ahead(state as u8, slip) as usize] += 1.0 / 20.0;
                }
                rewards[row + self.goal] = 1.0;
                emissions[(action * states + state) * observations + self.observe[state] as usize] = 1.0;
            }
        }
        let one_hot = |place: usize| (0..states).map(|state| f64::from(u8::from(state == place))).collect();
        let model = Model {
            n_states: states,
            n_actions: actions,
            n_observations: observations,
            transitions,
            observations: emissions,
            rewards: Rewards { values: rewards, by_next_state: true, by_observation: false },
            start: one_hot(self.start),
            terminal: (0..states).map(|state| state == self.goal).collect(),
            first_observations: None,
        };
        let names = self.maze.places.iter().map(|(row, column)| format!("({row}, {column})")).collect();
        let action_names = self.action_names.iter().map(std::string::ToString::to_string).collect();
        let observation_names = (0..observations).map(|o| self.observation_name(o)).collect();
        Tabular::new(model)
            .and_then(|tabular| tabular.named(action_names, observation_names, names))
            .expect("rows of twentieths sum to one")
    }
}

/// What an action really does, from its direction and those that sometimes replace it.
fn slips(law: impl Fn(usize) -> (u8, Vec<u8>)) -> [[u8; 20]; 4] {
    std::array::from_fn(|action| {
        let (chosen, others) = law(action);
        let mut row = [chosen; 20];
        row[..others.len()].copy_from_slice(&others);
        row
    })
}

impl Environment for Gridworld {
    type State = usize;

    fn n_actions(&self) -> usize {
        4
    }

    fn n_observations(&self) -> usize {
        match self.sensor {
            Sensor::CountsWalls => 5,
            Sensor::FeelsEachWall => 16,
        }
    }

    fn start(&self, _rng: &mut Rng) -> usize {
        self.start
    }

    #[inline]
    fn step(&self, cell: &mut usize, action: usize, rng: &mut Rng) -> Outcome {
        let direction = self.slips[action][rng.below(20)];
        *cell = self.maze.ahead(*cell as u8, direction).into();
        let terminated = *cell == self.goal;
        Outcome {
            observation: self.observe[*cell] as usize,
            reward: f64::from(u8::from(terminated)),
            terminated,
        }
    }

    fn action_name(&self, action: usize) -> String {
        self.action_names[action].into()
    }

    fn observation_name(&self, observation: usize) -> String {
        match self.sensor {
            Sensor::CountsWalls if observation == 1 => "1 wall".into(),
            Sensor::CountsWalls => format!("{observation} walls"),
            Sensor::FeelsEachWall => format!("walls {}", compass_names(observation)),
        }
    }

    fn render(&self, cell: &usize) -> String {
        let floor = (0..self.maze.len() as u8).map(|cell| (cell, '.'));
        self.maze.render(floor.chain([(self.goal as u8, 'G'), (*cell as u8, '@')]))
    }
}

impl Planning for Gridworld {
    fn reward_range(&self) -> f64 {
        1.0
    }
}
