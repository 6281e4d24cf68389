//! Grid worlds with aliased places: the paper's task from three starts, and Hamilton's map.

use crate::domains::compass_names;
use crate::domains::tabular::{Model, Rewards, Tabular};
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

/// (row, column) steps of up, down, left, right and of N, E, S, W.
const UP_DOWN_LEFT_RIGHT: [(isize, isize); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];
const COMPASS_MOVES: [(isize, isize); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

/// Twenty equally likely directions per action: both slip laws have probabilities in twentieths, so one
/// draw of an integer is exact.
type SlipTable = [[u8; 20]; 4];

fn slip_table(others: impl Fn(usize) -> Vec<usize>) -> SlipTable {
    std::array::from_fn(|action| {
        let mut row = [action as u8; 20];
        for (place, other) in others(action).into_iter().enumerate() {
            row[place] = other as u8;
        }
        row
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Sensor {
    CountsWalls,
    FeelsEachWall,
}

/// Reaching the goal pays 1 and ends the episode. A move into a wall stays put. The observation shows
/// the walls around the cell reached.
pub struct Gridworld {
    map: &'static str,
    places: Vec<(usize, usize)>,
    next: Vec<[u16; 4]>,
    observe: Vec<u8>,
    slips: SlipTable,
    sensor: Sensor,
    action_names: [&'static str; 4],
    start: usize,
    goal: usize,
}

impl Gridworld {
    /// The variants are called "near", "mid", "far" and "hamilton".
    pub fn named(variant: &str) -> Result<Self> {
        // With probability 0.2 a uniform direction replaces the chosen one: 17/20 for it, 1/20 for each other.
        let anywhere = |action: usize| (0..4).filter(|&other| other != action).collect();
        // 0.8 as chosen, 0.1 to either side.
        let sideways = |action: usize| [1, 1, 3, 3].iter().map(|turn| (action + turn) % 4).collect();
        let paper = |start| Self::build(PAPER_MAP, start, slip_table(anywhere), Sensor::CountsWalls);
        match variant {
            "near" => Ok(paper((5, 5))),
            "mid" => Ok(paper((4, 3))),
            "far" => Ok(paper((1, 1))),
            "hamilton" => Ok(Self::build(HAMILTON_MAP, (4, 9), slip_table(sideways), Sensor::FeelsEachWall)),
            _ => Err(Error::argument("variant", variant, "choose near, mid, far or hamilton")),
        }
    }

    fn build(map: &'static str, start: (usize, usize), slips: SlipTable, sensor: Sensor) -> Self {
        let (moves, action_names) = match sensor {
            Sensor::CountsWalls => (UP_DOWN_LEFT_RIGHT, ["up", "down", "left", "right"]),
            Sensor::FeelsEachWall => (COMPASS_MOVES, ["N", "E", "S", "W"]),
        };
        let rows: Vec<&[u8]> = map.lines().map(str::as_bytes).collect();
        let mut places = Vec::new();
        for (row, line) in rows.iter().enumerate() {
            places.extend((0..line.len()).filter(|&column| line[column] != b'#').map(|column| (row, column)));
        }
        let cell_at = |place| places.iter().position(|&other| other == place);
        let step = |(row, column): (usize, usize), (down, right): (isize, isize)| {
            cell_at(((row as isize + down) as usize, (column as isize + right) as usize))
        };
        let mut next = Vec::new();
        let mut observe = Vec::new();
        for (cell, &place) in places.iter().enumerate() {
            let targets = moves.map(|by| step(place, by));
            next.push(targets.map(|target| target.unwrap_or(cell) as u16));
            let walls = targets.map(|target| u8::from(target.is_none()));
            observe.push(match sensor {
                Sensor::CountsWalls => walls.iter().sum(),
                Sensor::FeelsEachWall => (0..4).map(|d| walls[d] << d).sum(),
            });
        }
        let goal_at = |&&(row, column): &&(usize, usize)| rows[row][column] == b'G';
        let goal = cell_at(*places.iter().find(goal_at).expect("the map has a goal")).expect("a free cell");
        let start = cell_at(start).expect("the start is free");
        Gridworld { map, places, next, observe, slips, sensor, action_names, start, goal }
    }

    pub(crate) fn tabular(&self) -> Tabular {
        let (states, actions, observations) = (self.places.len(), 4, self.n_observations());
        let mut transitions = vec![0.0; actions * states * states];
        let mut emissions = vec![0.0; actions * states * observations];
        let mut rewards = vec![0.0; actions * states * states];
        for action in 0..actions {
            for state in 0..states {
                let row = (action * states + state) * states;
                for slip in self.slips[action] {
                    transitions[row + self.next[state][slip as usize] as usize] += 1.0 / 20.0;
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
        let names = self.places.iter().map(|(row, column)| format!("({row}, {column})")).collect();
        let action_names = self.action_names.iter().map(std::string::ToString::to_string).collect();
        let observation_names = (0..observations).map(|o| self.observation_name(o)).collect();
        Tabular::new(model)
            .and_then(|tabular| tabular.named(action_names, observation_names, names))
            .expect("rows of twentieths sum to one")
    }
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
        *cell = self.next[*cell][direction as usize] as usize;
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
        let here = self.places[*cell];
        let lines = self.map.lines().enumerate().map(|(row, line)| {
            let show = |(column, tile)| if (row, column) == here { '@' } else { tile };
            line.chars().enumerate().map(show).collect::<String>()
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Planning for Gridworld {
    fn reward_range(&self) -> f64 {
        1.0
    }
}
