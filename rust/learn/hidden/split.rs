//! More states: those that are visited most become two.

use crate::error::Result;
use crate::learn::hidden::grow::Trainer;
use crate::learn::hidden::{Model, normalise, normalise_columns};

impl Trainer<'_> {
    /// The states that are visited most become two: what leads to one is shared out at random, all else is copied and
    /// shaken.
    pub(super) fn split(&mut self, model: &Model) -> Result<Model> {
        let old = model.states;
        let visits = visits(&self.counts(model, self.explored)?.transitions, old);
        let mut order: Vec<usize> = (0..old).collect();
        order.sort_by(|&one, &other| visits[other].total_cmp(&visits[one]).then(one.cmp(&other)));
        order.truncate(self.growth.states - old);
        let new = old + order.len();
        let source: Vec<usize> = (0..old).chain(order.iter().copied()).collect();
        let mut transitions = vec![0.0f32; self.coded.n_actions * new * new];
        for (block, from) in
            transitions.chunks_exact_mut(new * new).zip(model.transitions.chunks_exact(old * old))
        {
            let mut shares = vec![1.0f32; old * new];
            for row in shares.chunks_exact_mut(new) {
                for (twin, &state) in order.iter().enumerate() {
                    row[state] = self.between(0.25, 0.75);
                    row[old + twin] = 1.0 - row[state];
                }
            }
            for (row, &left) in block.chunks_exact_mut(new).zip(&source) {
                for (column, (entry, &reached)) in row.iter_mut().zip(&source).enumerate() {
                    let moved = from[left * old + reached] * shares[left * new + column];
                    *entry = moved * self.between(0.8, 1.2) + 1e-6;
                }
                normalise(row);
            }
        }
        let mut emissions = copied(&model.emissions, &source, old);
        emissions.iter_mut().for_each(|p| *p *= self.between(0.9, 1.1));
        normalise_columns(&mut emissions, new);
        let mut start = copied(&model.start, &source, old);
        for (twin, &state) in order.iter().enumerate() {
            let share = self.between(0.3, 0.7);
            start[state] *= share;
            start[old + twin] *= 1.0 - share;
        }
        normalise(&mut start);
        let rewards = copied(&model.rewards, &source, old);
        Ok(Model { states: new, start, transitions, emissions, rewards })
    }
}

/// How often every state is reached.
fn visits(transitions: &[f32], states: usize) -> Vec<f32> {
    let mut sums = vec![0.0; states];
    for row in transitions.chunks_exact(states) {
        sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// A (rows, states) table with these columns.
fn copied(table: &[f32], source: &[usize], states: usize) -> Vec<f32> {
    table.chunks_exact(states).flat_map(|row| source.iter().map(|&state| row[state])).collect()
}
