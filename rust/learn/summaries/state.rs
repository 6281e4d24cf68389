//! One step of a state.

use super::{COUNT_DECAYS, MEAN_DECAYS, MIRROR_STEPS, PAIR_DECAYS, Summaries};

impl Summaries {
    /// The state of an episode that showed nothing yet.
    pub fn start(&self) -> Vec<f32> {
        let mut state = vec![0.0; self.places.length];
        self.begin(&mut state, None);
        state
    }

    /// The state of an episode that showed this row of columns before its first action.
    pub fn begin(&self, state: &mut [f32], shown: Option<&[f32]>) {
        let (places, width) = (&self.places, self.sizes.len());
        state.fill(0.0);
        state[places.actions..places.actions + self.steps].fill(-1.0);
        for (column, &size) in self.sizes.iter().enumerate() {
            let value = shown.map_or(if size == 0 { 0.0 } else { -1.0 }, |row| known(row[column], size, 0.0));
            for step in 0..self.steps {
                // Numbers before the first are like the first, so that differences are 0.
                state[places.last + step * width + column] =
                    if size == 0 || step == 0 { value } else { -1.0 };
            }
            if self.long {
                state[places.first + column] = value;
            }
        }
        if !self.long {
            return;
        }
        for (place, &column) in self.numbers.iter().enumerate() {
            for decay in 0..MEAN_DECAYS.len() {
                state[places.means + decay * self.numbers.len() + place] = state[places.last + column];
            }
        }
        for (place, &column) in self.counted.iter().enumerate() {
            for begin in [places.seen[place], places.done[place]] {
                state[begin..begin + self.sizes[column]].fill(-1.0);
            }
        }
        if self.has_own() {
            state[places.when..places.when + self.n_actions].fill(-1.0);
            state[places.brought..places.brought + self.n_actions].fill(-1.0);
        }
        self.count(state);
        self.keep(state);
    }

    /// Takes in an action and the row of columns that it brought.
    pub fn update(&self, state: &mut [f32], action: usize, row: &[f32]) {
        let (places, width) = (&self.places, self.sizes.len());
        if self.long {
            for (place, &column) in self.counted.iter().enumerate() {
                if let Some(value) = index(state[places.last + column]) {
                    state[places.done[place] + value] = action as f32;
                }
            }
        }
        state[0] += 1.0;
        let last = places.last..places.last + self.steps * width;
        state.copy_within(last.start..last.end - width, last.start + width);
        state.copy_within(places.actions..places.actions + self.steps - 1, places.actions + 1);
        state[places.actions] = action as f32;
        for (column, &size) in self.sizes.iter().enumerate() {
            // The place still has the value before, which stays where a number is missing.
            state[last.start + column] = known(row[column], size, state[last.start + column]);
        }
        if self.long {
            self.average(state);
            self.pair(state, action);
            self.credit(state, action);
            self.count(state);
            self.keep(state);
        }
    }

    /// Writes the present values into the past, and when they changed.
    fn keep(&self, state: &mut [f32]) {
        let (places, time) = (&self.places, state[0]);
        for (place, &column) in self.mirrored.iter().enumerate() {
            let past = places.past + place * MIRROR_STEPS;
            let value = state[places.last + column];
            if time > 0.0 && value != state[past + (time as usize - 1) % MIRROR_STEPS] {
                state[places.changed + place] = time;
            }
            state[past + time as usize % MIRROR_STEPS] = value;
        }
    }

    fn average(&self, state: &mut [f32]) {
        for (place, &column) in self.numbers.iter().enumerate() {
            let value = state[self.places.last + column];
            for (step, decay) in MEAN_DECAYS.into_iter().enumerate() {
                let mean = &mut state[self.places.means + step * self.numbers.len() + place];
                *mean = *mean * decay + value * (1.0 - decay);
            }
        }
    }

    fn pair(&self, state: &mut [f32], action: usize) {
        for (pair, &place) in self.paired.iter().enumerate() {
            let column = self.counted[place];
            let (size, value) = (self.sizes[column], index(state[self.places.last + column]));
            for (step, decay) in PAIR_DECAYS.into_iter().enumerate() {
                let begin = self.places.pairs[pair] + step * self.n_actions * size;
                let cells = &mut state[begin..begin + self.n_actions * size];
                if decay < 1.0 {
                    cells.iter_mut().for_each(|cell| *cell *= decay);
                }
                if let Some(value) = value {
                    cells[action * size + value] += 1.0;
                }
            }
        }
    }

    /// What the action brought.
    fn credit(&self, state: &mut [f32], action: usize) {
        if !self.has_own() {
            return;
        }
        let places = &self.places;
        for (step, decay) in PAIR_DECAYS.into_iter().enumerate() {
            let begin = places.tries + step * self.n_actions;
            let tries = &mut state[begin..begin + self.n_actions];
            if decay < 1.0 {
                tries.iter_mut().for_each(|count| *count *= decay);
            }
            tries[action] += 1.0;
        }
        let value = state[places.last + self.touched[action]];
        state[places.when + action] = state[0];
        state[places.sums + action] += value;
        state[places.brought + action] = value;
    }

    /// Looks the present values up, then counts them.
    fn count(&self, state: &mut [f32]) {
        let places = &self.places;
        for (relation, &(i, j)) in self.relations.iter().enumerate() {
            let (inside, present) =
                (state[places.last + self.counted[i]], state[places.last + self.counted[j]]);
            let recalled = index(present).map_or([-1.0; 3], |value| {
                let also = f32::from(i != j && inside == present);
                let seen = state[places.seen[i] + value];
                let ago = if seen < 0.0 { -1.0 } else { state[0] - seen };
                [state[places.counts[i] + value] + also, ago, state[places.done[i] + value]]
            });
            state[places.recalled + 3 * relation..][..3].copy_from_slice(&recalled);
        }
        for (place, &column) in self.counted.iter().enumerate() {
            let (size, value) = (self.sizes[column], index(state[places.last + column]));
            for (step, decay) in COUNT_DECAYS.into_iter().enumerate() {
                let begin = places.counts[place] + step * size;
                let counts = &mut state[begin..begin + size];
                if decay < 1.0 {
                    counts.iter_mut().for_each(|count| *count *= decay);
                }
                if let Some(value) = value {
                    counts[value] += 1.0;
                }
            }
            if let Some(value) = value {
                state[places.seen[place] + value] = state[0];
            }
        }
    }
}

/// A value as a state has it: −1 for a category that is missing or unknown, `before` for a missing number.
fn known(value: f32, size: usize, before: f32) -> f32 {
    match size {
        0 if value.is_finite() => value,
        0 => before,
        _ if value >= 0.0 && value < size as f32 => value.trunc(),
        _ => -1.0,
    }
}

/// A known value of a category.
fn index(value: f32) -> Option<usize> {
    (value >= 0.0).then_some(value as usize)
}
