//! What a state says, as numbers that trees can split.

use super::{COUNT_DECAYS, MEAN_DECAYS, MIRROR_STEPS, OWN, PAIR_DECAYS, Summaries};

impl Summaries {
    /// Numbers about the history.
    pub fn n_shared(&self) -> usize {
        let (width, steps) = (self.sizes.len(), self.steps);
        let recent = steps * width + if steps > 1 { steps + self.moves() * self.numbers.len() } else { 0 };
        if !self.long {
            return recent;
        }
        let values: usize = self.counted.iter().map(|&column| self.sizes[column]).sum();
        let pairs: usize = self.paired.iter().map(|&place| self.sizes[self.counted[place]]).sum();
        let counts = COUNT_DECAYS.len() * values + PAIR_DECAYS.len() * self.n_actions * pairs;
        let mirrors = self.mirrored.len() * self.mirrored.len().saturating_sub(1);
        let means = MEAN_DECAYS.len() * self.numbers.len();
        recent + width + 1 + counts + means + 3 * self.relations.len() + 2 * self.counted.len() + mirrors
    }

    /// Numbers about each action.
    pub fn n_own(&self) -> usize {
        if self.has_own() { OWN } else { 0 }
    }

    /// Differences of successive numbers.
    fn moves(&self) -> usize {
        (self.steps - 1).min(2)
    }

    /// Writes what a state says about the history, (n_shared,).
    pub fn write_shared(&self, state: &[f32], out: &mut [f32]) {
        let (places, width) = (&self.places, self.sizes.len());
        let mut next = 0;
        let mut copy = |values: &[f32]| {
            out[next..next + values.len()].copy_from_slice(values);
            next += values.len();
        };
        let last = &state[places.last..places.last + self.steps * width];
        copy(last);
        if self.steps > 1 {
            copy(&state[places.actions..places.actions + self.steps]);
            for step in 0..self.moves() {
                for &column in &self.numbers {
                    copy(&[last[step * width + column] - last[(step + 1) * width + column]]);
                }
            }
        }
        if !self.long {
            return;
        }
        copy(&state[places.first..places.first + width]);
        copy(&state[..1]);
        for (place, &column) in self.counted.iter().enumerate() {
            copy(&state[places.counts[place]..][..COUNT_DECAYS.len() * self.sizes[column]]);
        }
        copy(&state[places.means..][..MEAN_DECAYS.len() * self.numbers.len()]);
        for (pair, &place) in self.paired.iter().enumerate() {
            let cells = PAIR_DECAYS.len() * self.n_actions * self.sizes[self.counted[place]];
            copy(&state[places.pairs[pair]..][..cells]);
        }
        copy(&state[places.recalled..][..3 * self.relations.len()]);
        for (place, &column) in self.counted.iter().enumerate() {
            copy(&self.ranked(state, place, last[column]));
        }
        for (i, &changing) in self.mirrored.iter().enumerate() {
            for j in (0..self.mirrored.len()).filter(|&j| self.mirrored[j] != changing) {
                copy(&[self.mirrored_value(state, i, j)]);
            }
        }
    }

    /// How many values of a counted column were lower and higher than the present one.
    fn ranked(&self, state: &[f32], place: usize, present: f32) -> [f32; 2] {
        if present < 0.0 {
            return [-1.0; 2];
        }
        let counts = &state[self.places.counts[place]..][..self.sizes[self.counted[place]]];
        let (lower, rest) = counts.split_at(present as usize);
        [lower.iter().sum(), rest[1..].iter().sum()]
    }

    /// What column `j` showed as long before the last change of column `i` as that change is ago; −1 if it is not known.
    fn mirrored_value(&self, state: &[f32], i: usize, j: usize) -> f32 {
        let time = 2.0 * state[self.places.changed + i] - state[0];
        if time < 0.0 || state[0] - time >= MIRROR_STEPS as f32 {
            return -1.0;
        }
        state[self.places.past + j * MIRROR_STEPS + time as usize % MIRROR_STEPS]
    }

    /// Writes what a state says about an action, (n_own,): its number; how often it was taken, lately, how long ago; what
    /// it brought in the column that it touches, on average, with one half as a first guess, and the last time; what the
    /// column shows now; whether the last action brought the same, and of numbers how much less; and what is expected of it
    /// from what all actions brought last, by the weights of the episode.
    pub fn write_own(&self, state: &[f32], action: usize, episode: usize, out: &mut [f32]) {
        if !self.has_own() {
            return;
        }
        let (places, column) = (&self.places, self.touched[action]);
        let (tries, when) = (state[places.tries + action], state[places.when + action]);
        let (brought, last) = (state[places.brought + action], state[places.actions]);
        let like = if when < 0.0 {
            -1.0
        } else {
            let other = state[places.brought + last as usize];
            if self.sizes[column] == 0 { brought - other } else { f32::from(brought == other) }
        };
        let ago = if when < 0.0 { -1.0 } else { state[0] - when };
        let mean = (state[places.sums + action] + 0.5) / (tries + 1.0);
        let lately = state[places.tries + self.n_actions + action];
        let now = state[places.last + column];
        out.copy_from_slice(&[
            action as f32,
            tries,
            lately,
            ago,
            mean,
            brought,
            now,
            like,
            self.expected(state, action, episode),
        ]);
    }

    fn expected(&self, state: &[f32], action: usize, episode: usize) -> f32 {
        let (weights, width) = (&self.expected.weights, self.expected.width);
        let sets = weights.len().checked_div(width * self.n_actions).unwrap_or(0);
        if sets == 0 {
            return 0.0;
        }
        let row = &weights[(episode % sets * self.n_actions + action) * width..][..width];
        let values = (width - 1) / self.n_actions;
        let brought = &state[self.places.brought..][..self.n_actions];
        let known = |&value: &f32| value >= 0.0 && value < values as f32;
        let weights = row[1..].chunks_exact(values).zip(brought).filter(|(_, value)| known(value));
        row[0] + weights.map(|(weights, &value)| weights[value as usize]).sum::<f32>()
    }
}
