//! How well forests predict held-out episodes.

use crate::error::Result;
use crate::learn::forests::bins::Bins;
use crate::learn::forests::sweeps::Leaves;
use crate::learn::forests::tree::{Growth, Tree};
use crate::parallel::{Ticker, map_blocks};
use crate::rng::Rng;

/// Pseudo-rows of mean 0 in every leaf.
const SHRINKAGE: f64 = 2.0;
/// Below so many leaves' worth of rows, an action is predicted by 0.
const LEAVES: usize = 4;

/// Squared errors (targets, steps) of the targets (targets, steps), which have mean 0. Of every fold and action, or of all
/// actions if they are `pooled`, a forest of `trees` predicts the steps of the other fold.
#[allow(clippy::too_many_arguments)]
pub fn held_out_errors(
    bins: &Bins,
    actions: &[i32],
    before: &[u32],
    fold: &[u8],
    targets: &[f32],
    pooled: bool,
    trees: usize,
    smallest: usize,
    growth: &Growth,
    seed: u64,
    threads: usize,
    ticker: &Ticker,
) -> Result<Vec<f32>> {
    let (steps, groups) = (actions.len(), if pooled { 1 } else { bins.summaries.n_actions });
    let kinds = targets.len() / steps.max(1);
    let counts = bins.counts();
    // The steps of every fold and action.
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); 2 * groups];
    for step in 0..steps {
        let group = if pooled { 0 } else { actions[step] as usize };
        rows[fold[step] as usize * groups + group].push(step as u32);
    }
    let own = if pooled { bins.taken(actions, before) } else { Vec::new() };
    let cuts_of = |steps: &[u32]| steps.iter().map(|&step| before[step as usize]).collect::<Vec<u32>>();
    let predict = |job: usize| {
        let (place, kind) = (job / kinds, job % kinds);
        let learned = &rows[place];
        let judged = &rows[(place + groups) % (2 * groups)];
        if learned.len() < LEAVES * smallest || judged.is_empty() {
            return Vec::new();
        }
        let columns: Vec<&[u8]> = if pooled {
            bins.shared().into_iter().chain(own.iter().map(Vec::as_slice)).collect()
        } else {
            bins.of_action(place % groups)
        };
        let (cuts, others) = (cuts_of(learned), cuts_of(judged));
        let wanted: Vec<f32> = learned.iter().map(|&step| targets[kind * steps + step as usize]).collect();
        let mut forest = Leaves::default();
        // Leaves of the rows that are learned from, then of those that judge.
        let both: Vec<u32> = cuts.iter().chain(&others).copied().collect();
        for tree in 0..trees {
            // A target is predicted by the same trees, whichever others there are.
            let rng = Rng::stream(seed, ((kind * 2 * groups + place) * trees + tree) as u64);
            let tree = Tree::grown(&columns, &counts, &cuts, &wanted, smallest, own.len(), growth, rng);
            forest.trees.push((tree.n_leaves, tree.leaves_at(&columns, &both)));
        }
        let places: Vec<usize> = (0..cuts.len()).collect();
        let mut out = vec![0.0; both.len()];
        forest.sweep(&places, &wanted, SHRINKAGE, &mut out);
        out.split_off(cuts.len())
    };
    let jobs = 2 * groups * kinds;
    let predicted = map_blocks(threads, jobs, 1, ticker, |job| Ok(predict(job.start)))?;
    let mut errors: Vec<f32> = targets.iter().map(|target| target * target).collect();
    for (job, predicted) in predicted.into_iter().enumerate() {
        let (place, kind) = (job / kinds, job % kinds);
        for (&step, guess) in rows[(place + groups) % (2 * groups)].iter().zip(predicted) {
            let at = kind * steps + step as usize;
            errors[at] = (targets[at] - guess) * (targets[at] - guess);
        }
    }
    Ok(errors)
}
