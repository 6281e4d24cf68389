//! Cloned hidden Markov models as a policy steps them: their arrays, one after the other.

use crate::error::{Error, Result};
use crate::learn::beliefs::CloneModel;
use crate::policies::array::Array;
use crate::policies::{check_sizes, indices, listed};

/// The arrays of several models.
#[derive(Clone, Debug)]
pub struct Joined {
    /// (models)
    pub states: Vec<i64>,
    /// What is believed before the first step.
    pub starts: Vec<f32>,
    /// (kinds, states, states) of each: probability of going on and of the next state.
    pub transitions: Vec<f32>,
    /// (observations, states) of each: probability that a state shows it; empty or None where states show one
    /// observation only.
    pub shown: Option<Vec<f32>>,
    /// (models, observations, 2): first and last + 1 of the states that show an observation.
    pub ranges: Array<i64, 3>,
    /// (actions): which of the transition matrices each has.
    pub kinds: Vec<i64>,
    /// Whether the models know what an episode shows before its first action; otherwise it is not looked at.
    pub opens: bool,
}

/// One of the models: its number, how many states it has, and where its states and its arrays begin.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub(super) model: usize,
    pub(super) states: usize,
    pub(super) first: usize,
    transitions: usize,
    shown: usize,
}

impl Joined {
    /// The models as they go on in one of the tasks that they were trained on.
    pub fn of(models: &[CloneModel], task: usize) -> Self {
        let layout = &models[0].layout;
        let (mut transitions, mut shown) = (Vec::new(), Vec::new());
        for model in models {
            let goes_on = model.goes_on(task);
            for (row, goes_on) in model.transitions.chunks_exact(layout.n_states).zip(goes_on) {
                transitions.extend(row.iter().map(|t| t * goes_on));
            }
            if layout.noisy() {
                let table = model.shown();
                let row = |code: &u32| &table[*code as usize * layout.n_states..][..layout.n_states];
                shown.extend(layout.codes.iter().flat_map(row));
            }
        }
        let ranges =
            (0..layout.ranges.len()).map(|o| layout.range(o)).flat_map(|(a, b)| [a as i64, b as i64]);
        let ranges = ranges.collect::<Vec<_>>().repeat(models.len());
        Joined {
            states: vec![layout.n_states as i64; models.len()],
            starts: models.iter().flat_map(|model| &model.start).copied().collect(),
            transitions,
            shown: Some(shown),
            ranges: Array { entries: ranges, shape: [models.len(), layout.ranges.len(), 2] },
            kinds: listed(layout.kinds.iter().copied()),
            opens: layout.opens,
        }
    }

    /// Where the models lie; refused where arrays do not fit together.
    pub fn spans(&self) -> Result<Vec<Span>> {
        let [models, n_observations, ends] = self.ranges.shape;
        check_sizes([("ranges", models, self.states.len()), ("ranges", ends, 2)])?;
        let n_kinds = indices("kinds", &self.kinds)?.into_iter().max().map_or(0, |kind| kind as usize + 1);
        let all_shown = self.shown.as_deref().unwrap_or_default();
        let (mut spans, mut first, mut transitions, mut shown) = (Vec::with_capacity(models), 0, 0, 0);
        for (model, &given) in self.states.iter().enumerate() {
            let states = usize::try_from(given).unwrap_or(0);
            let cells = n_kinds.saturating_mul(states).saturating_mul(states);
            let seen = if all_shown.is_empty() { 0 } else { n_observations.saturating_mul(states) };
            let left =
                [self.starts.len() - first, self.transitions.len() - transitions, all_shown.len() - shown];
            if states == 0 || states > left[0] || cells > left[1] || seen > left[2] {
                let [starts, transitions, shown] = left;
                let left =
                    format!("{starts} starts, {transitions} transitions and {shown} of `shown` are left");
                return Err(Error::argument("states", left, format!("a model of {given} states needs more")));
            }
            let span = Span { model, states, first, transitions, shown };
            let inside = |(low, high)| low < high && high <= states;
            if !(0..n_observations).all(|observation| inside(self.range(&span, observation))) {
                let remedy = format!("there are {states} states");
                return Err(Error::argument("ranges", "empty or beyond the states", remedy));
            }
            spans.push(span);
            (first, transitions, shown) = (first + states, transitions + cells, shown + seen);
        }
        check_sizes([
            ("starts", self.starts.len(), first),
            ("transitions", self.transitions.len(), transitions),
            ("shown", all_shown.len(), shown),
        ])?;
        if self.starts.iter().chain(&self.transitions).chain(all_shown).any(|p| !(0.0..=1.001).contains(p)) {
            return Err(Error::argument("transitions", "not probabilities", "give numbers in [0, 1]"));
        }
        Ok(spans)
    }

    /// First and last + 1 of the states of a model that show an observation.
    #[inline]
    pub fn range(&self, span: &Span, observation: usize) -> (usize, usize) {
        let place = 2 * (span.model * self.ranges.shape[1] + observation);
        (self.ranges[place] as usize, self.ranges[place + 1] as usize)
    }

    /// (states, states)
    #[inline]
    pub fn transitions(&self, span: &Span, kind: i64) -> &[f32] {
        let size = span.states * span.states;
        &self.transitions[span.transitions + kind as usize * size..][..size]
    }

    /// Probability that each state shows an observation; none where states show one only.
    #[inline]
    pub fn shown(&self, span: &Span, observation: usize) -> Option<&[f32]> {
        let shown = self.shown.as_ref().filter(|shown| !shown.is_empty())?;
        Some(&shown[span.shown + observation * span.states..][..span.states])
    }
}
