//! What a state says, as numbers that trees can split.

use super::{COUNT_DECAYS, MEAN_DECAYS, PAIR_DECAYS, Summaries};

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
        recent + width + 1 + counts + MEAN_DECAYS.len() * self.numbers.len() + 3 * self.relations.len()
    }

    /// Numbers about each action.
    pub fn n_own(&self) -> usize {
        self.own.filter(|_| self.long).map_or(0, |own| 3 + 2 * own)
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
    }

    /// Writes what a state says about an action, (n_own,): how often it was taken, lately, how long ago; of every column
    /// the mean, with one half as a first guess, and the last of what it brought.
    pub fn write_own(&self, state: &[f32], action: usize, out: &mut [f32]) {
        let Some(own) = self.own.filter(|_| self.long) else { return };
        let places = &self.places;
        let (tries, when) = (state[places.tries + action], state[places.when + action]);
        out[0] = tries;
        out[1] = state[places.tries + self.n_actions + action];
        out[2] = if when < 0.0 { -1.0 } else { state[0] - when };
        for column in 0..own {
            out[3 + column] = (state[places.sums + action * own + column] + 0.5) / (tries + 1.0);
            out[3 + own + column] = state[places.brought + action * own + column];
        }
    }
}
