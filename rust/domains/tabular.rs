//! Any finite POMDP, given as dense arrays.

use crate::domains::rows::Rows;
use crate::error::{Error, Result};
use crate::reserve::copied;
use crate::rng::Rng;
use crate::simulate::environment::{Environment, Outcome};
use crate::simulate::planning::Planning;

/// Rows may be off by this much (published `.pomdp` files are off by up to 5e-6) and are then renormalised.
const ROW_TOLERANCE: f64 = 1e-5;

/// Rewards over (action, state), optionally also over the next state and the observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewards {
    pub(crate) values: Vec<f64>,
    pub(crate) by_next_state: bool,
    pub(crate) by_observation: bool,
}

/// The arrays of a POMDP in row-major order: transitions (A, S, S), observations (A, S', O), start (S).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) n_states: usize,
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
    pub(crate) transitions: Vec<f64>,
    pub(crate) observations: Vec<f64>,
    pub(crate) rewards: Rewards,
    pub(crate) start: Vec<f64>,
    /// Entering such a state ends the episode.
    pub terminal: Vec<bool>,
    /// (S, O): what a start state shows before the first action; None if nothing is shown.
    pub first_observations: Option<Vec<f64>>,
}

impl Model {
    fn check_shapes(&self) -> Result<()> {
        let (states, actions, observations) = (self.n_states, self.n_actions, self.n_observations);
        if states == 0 || actions == 0 || observations == 0 {
            let given = format!("{actions} actions, {states} states, {observations} observations");
            return Err(Error::argument("transitions", given, "a POMDP needs at least one of each"));
        }
        if states.max(observations) > u32::MAX as usize {
            let given = format!("{states} states, {observations} observations");
            return Err(Error::argument("transitions", given, "at most 4294967295 of each"));
        }
        let rewards = actions
            * states
            * if self.rewards.by_next_state { states } else { 1 }
            * if self.rewards.by_observation { observations } else { 1 };
        let sizes = [
            ("transitions", self.transitions.len(), actions * states * states),
            ("observations", self.observations.len(), actions * states * observations),
            ("rewards", self.rewards.values.len(), rewards),
            ("start", self.start.len(), states),
            ("terminal", self.terminal.len(), states),
            (
                "first_observations",
                self.first_observations.as_ref().map_or(states * observations, Vec::len),
                states * observations,
            ),
        ];
        if let Some((name, given, expected)) = sizes.into_iter().find(|each| each.1 != each.2) {
            let sizes = format!("{actions} actions, {states} states, {observations} observations");
            let remedy = format!("expected {expected} for {sizes}");
            return Err(Error::argument(name, format!("array of {given} entries"), remedy));
        }
        if let Some(index) = self.rewards.values.iter().position(|reward| !reward.is_finite()) {
            return Err(Error::argument(
                "rewards",
                self.rewards.values[index],
                format!("entry {index} is not finite"),
            ));
        }
        Ok(())
    }
}

/// Makes a row sum to one, or says why it is not a distribution. A row that is off by rounding alone keeps its
/// bits (dividing moves the sum to within this bound), so normalising twice is the same as once and a model
/// survives being written and read.
fn normalise(table: &'static str, row: &mut [f64], name: impl Fn() -> String) -> Result<()> {
    let bad = |problem: String| Err(Error::Distribution { table, row: name(), problem });
    if let Some(index) = row.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
        return bad(format!("entry {index} is {}, not a probability", row[index]));
    }
    let total: f64 = row.iter().sum();
    if (total - 1.0).abs() > ROW_TOLERANCE {
        return bad(format!("the probabilities sum to {total}, not to 1"));
    }
    if (total - 1.0).abs() > f64::EPSILON * row.len() as f64 {
        row.iter_mut().for_each(|p| *p /= total);
    }
    Ok(())
}

/// A finite POMDP that can be simulated. The reward of a step may depend on all it touches.
#[derive(Clone, Debug)]
pub struct Tabular {
    n_states: usize,
    transitions: Rows,
    observations: Rows,
    start: Rows,
    first_observations: Option<Box<Rows>>,
    rewards: Rewards,
    terminal: Vec<bool>,
    pub(crate) action_names: Vec<String>,
    pub(crate) observation_names: Vec<String>,
    pub(crate) state_names: Vec<String>,
}

impl Tabular {
    pub(crate) fn new(mut model: Model) -> Result<Self> {
        model.check_shapes()?;
        let (states, width) = (model.n_states, model.n_observations);
        let place = |row: usize| format!("action {}, state {}", row / states, row % states);
        for (row, probs) in model.transitions.chunks_exact_mut(states).enumerate() {
            normalise("transitions", probs, || place(row))?;
        }
        for (row, probs) in model.observations.chunks_exact_mut(width).enumerate() {
            normalise("observations", probs, || place(row))?;
        }
        normalise("start", &mut model.start, || "all".into())?;
        for (row, probs) in
            model.first_observations.iter_mut().flat_map(|all| all.chunks_exact_mut(width)).enumerate()
        {
            normalise("first_observations", probs, || format!("state {row}"))?;
        }
        let numbered = |kind: &str, count: usize| (0..count).map(|i| format!("{kind} {i}")).collect();
        Ok(Tabular {
            n_states: states,
            transitions: Rows::new(&model.transitions, states)?,
            observations: Rows::new(&model.observations, width)?,
            start: Rows::new(&model.start, states)?,
            first_observations: model
                .first_observations
                .map(|all| Rows::new(&all, width).map(Box::new))
                .transpose()?,
            rewards: model.rewards,
            terminal: model.terminal,
            action_names: numbered("action", model.n_actions),
            observation_names: numbered("observation", width),
            state_names: numbered("state", states),
        })
    }

    /// The arrays, as dense as they were given.
    pub fn model(&self) -> Result<Model> {
        Ok(Model {
            n_states: self.n_states,
            n_actions: self.n_actions(),
            n_observations: self.n_observations(),
            transitions: self.transitions.dense()?,
            observations: self.observations.dense()?,
            rewards: Rewards { values: copied(&self.rewards.values, "the rewards")?, ..self.rewards },
            start: self.start.dense()?,
            terminal: self.terminal.clone(),
            first_observations: self.first_observations.as_ref().map(|rows| rows.dense()).transpose()?,
        })
    }

    fn reward(&self, action: usize, state: usize, next: usize, observation: usize) -> f64 {
        let mut index = action * self.n_states + state;
        if self.rewards.by_next_state {
            index = index * self.n_states + next;
        }
        if self.rewards.by_observation {
            index = index * self.n_observations() + observation;
        }
        self.rewards.values[index]
    }

    /// The same world with names for people.
    pub fn named(
        mut self,
        actions: Vec<String>,
        observations: Vec<String>,
        states: Vec<String>,
    ) -> Result<Self> {
        let lists = [
            ("action_names", &mut self.action_names, actions),
            ("observation_names", &mut self.observation_names, observations),
            ("state_names", &mut self.state_names, states),
        ];
        for (argument, names, given) in lists {
            if given.is_empty() {
                continue;
            }
            if given.len() != names.len() {
                let remedy = format!("give {} names or none", names.len());
                return Err(Error::argument(argument, format!("{} names", given.len()), remedy));
            }
            *names = given;
        }
        Ok(self)
    }
}

impl Environment for Tabular {
    type State = usize;

    fn n_actions(&self) -> usize {
        self.action_names.len()
    }

    fn n_observations(&self) -> usize {
        self.observation_names.len()
    }

    fn start(&self, rng: &mut Rng) -> usize {
        self.start.draw(0, rng)
    }

    fn shows_first(&self) -> bool {
        self.first_observations.is_some()
    }

    fn first_observation(&self, state: &usize, rng: &mut Rng) -> Option<usize> {
        self.first_observations.as_ref().map(|rows| rows.draw(*state, rng))
    }

    fn step(&self, state: &mut usize, action: usize, rng: &mut Rng) -> Outcome {
        let next = self.transitions.draw(action * self.n_states + *state, rng);
        let observation = self.observations.draw(action * self.n_states + next, rng);
        let reward = self.reward(action, *state, next, observation);
        *state = next;
        Outcome { observation, reward, terminated: self.terminal[next] }
    }

    fn action_name(&self, action: usize) -> String {
        self.action_names[action].clone()
    }

    fn observation_name(&self, observation: usize) -> String {
        self.observation_names[observation].clone()
    }

    fn render(&self, state: &usize) -> String {
        self.state_names[*state].clone()
    }
}

impl Planning for Tabular {
    fn reward_range(&self) -> f64 {
        let rewards = &self.rewards.values;
        let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = rewards.iter().copied().fold(f64::INFINITY, f64::min);
        most - least
    }
}
