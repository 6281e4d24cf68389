//! Noisy models: hidden Markov models in which a state may show any observation, some more likely than others.
//!
//! Clones need a state for every pair of a place and what it shows. Where sensors err, most of them are spent on
//! errors. Here what a state shows is drawn when it is left, together with what the step pays: so the passes of cloned
//! models serve, with one observation for all states and many events. Only what is shown last is drawn on arrival.

use super::CloneModel;
use super::layout::Layout;

/// Pseudo-counts of what a state shows, spread evenly.
const SHOWN_PRIOR: f32 = 0.02;

/// In the beginning a state shows the observation that it was guessed for with this probability, and else anything.
const TRUST: f32 = 0.7;

/// (tasks, kinds, events, shown, states): the law of what states show and the law of events, multiplied. Nothing shown
/// is no news.
pub fn joined(shown: &[f32], events: &[f32], layout: &Layout) -> Vec<f32> {
    let states = layout.n_states;
    let mut laws = Vec::with_capacity(events.len() * layout.n_shown);
    for event in events.chunks_exact(states) {
        for row in shown.chunks_exact(states) {
            laws.extend(row.iter().zip(event).map(|(p, q)| p * q));
        }
        laws.extend_from_slice(event);
    }
    laws
}

/// (codes, states): probabilities from counts that are not zero.
pub fn shares(mut counts: Vec<f32>, states: usize) -> Vec<f32> {
    for state in 0..states {
        let total: f32 = counts.iter().skip(state).step_by(states).sum();
        counts.iter_mut().skip(state).step_by(states).for_each(|count| *count /= total);
    }
    counts
}

/// The laws that make `scale` times these counts likeliest, (tasks, kinds, events, shown, states). What a state shows
/// depends on nothing else.
pub fn maximised(counts: &[f32], scale: f32, law: &[f32], layout: &Layout) -> Vec<f32> {
    let Layout { n_states: states, n_shown, .. } = *layout;
    let codes = n_shown - 1;
    let mut shown = vec![SHOWN_PRIOR / codes as f32; codes * states];
    let mut events = Vec::with_capacity(law.len() * states);
    for (block, law) in counts.chunks_exact(n_shown * states).zip(law) {
        let mut event = vec![law + 1e-12; states];
        for (code, row) in block.chunks_exact(states).enumerate() {
            event.iter_mut().zip(row).for_each(|(sum, count)| *sum += scale * count);
            if code < codes {
                let sums = &mut shown[code * states..(code + 1) * states];
                sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += scale * count);
            }
        }
        events.extend(event);
    }
    super::normalise_events(&mut events, layout);
    joined(&shares(shown, states), &events, layout)
}

/// What states show at first, (codes, states), if those guessed for every step are these.
pub fn guessed(labels: &[u32], observations: &[i32], layout: &Layout) -> Vec<f32> {
    let (states, codes) = (layout.n_states, layout.n_shown - 1);
    let mut counts = vec![1e-6; codes * states];
    let mut overall = vec![1e-6; codes];
    for (&label, &observation) in labels.iter().zip(observations) {
        let code = layout.codes[observation as usize] as usize;
        if code < codes {
            counts[code * states + label as usize] += 1.0;
            overall[code] += 1.0;
        }
    }
    let overall = shares(overall, 1);
    let mut shown = shares(counts, states);
    for (row, share) in shown.chunks_exact_mut(states).zip(overall) {
        row.iter_mut().for_each(|p| *p = TRUST * *p + (1.0 - TRUST) * share);
    }
    shown
}

impl CloneModel {
    /// What states show, (shown, states): ones for nothing. Empty where states show one observation only.
    pub fn shown(&self) -> Vec<f32> {
        let Layout { n_states: states, n_shown, n_events, .. } = *self.layout;
        if !self.layout.noisy() {
            return Vec::new();
        }
        // Summed over events the law is that of what is shown, whatever is done.
        let mut shown = vec![0.0; n_shown * states];
        for block in self.events.chunks_exact(n_shown * states).take(n_events) {
            shown.iter_mut().zip(block).for_each(|(sum, p)| *sum += p);
        }
        shown
    }
}
