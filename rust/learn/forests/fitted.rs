//! Fitted Q iteration with trees that are frozen while values are swept, in two folds of episodes.
//!
//! Q = V + G: in every fold a forest for V on all steps, and for what V leaves over one for every action, or one that is
//! pooled: it reads what is known of an action, and values all of them. At first V is
//! fitted to the returns of the log, and the targets become r + γ V(next) of the other fold. Then, in every further stage,
//! trees are grown anew on the targets, and the values of their leaves are swept: the targets are r + γ Q(next, best),
//! where the fold of the step chooses the best action, and both value it.

use crate::error::Result;
use crate::learn::forests::bins::Bins;
use crate::learn::forests::regression::Regression;
use crate::learn::forests::sweeps::Leaves;
use crate::learn::forests::tree::{Growth, Tree};
use crate::parallel::{Ticker, for_each, map_blocks};
use crate::rng::Rng;

/// Folds of episodes.
pub const FOLDS: usize = 2;
/// Steps that a thread takes at a time.
const BLOCK: usize = 8192;
/// Targets that change by less than this share of their size are done.
const DONE: f64 = 1e-4;

/// The numbers of the algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub(crate) discount: f64,
    pub(crate) stages: usize,
    /// Sweeps of a stage at most.
    pub(crate) sweeps: usize,
    /// Trees of V, and of every action.
    pub(crate) value_trees: usize,
    pub(crate) trees: usize,
    /// Fewest rows of a leaf; twice as many for V.
    pub(crate) smallest: usize,
    /// Pseudo-rows of advantage 0 in every leaf.
    pub(crate) shrinkage: f64,
    /// 0 values an action by the mean of both folds, 1 by the smaller; between, by a mixture.
    pub(crate) caution: f32,
    /// Whether one forest values all actions by what is known of each.
    pub(crate) pooled: bool,
    pub(crate) growth: Growth,
    pub(crate) seed: u64,
}

/// Episodes as the algorithm reads them; arrays have an entry for every step.
pub struct Steps<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) actions: &'a [i32],
    pub(crate) rewards: &'a [f32],
    /// The cut before; the next one is after.
    pub(crate) before: &'a [u32],
    /// Whether the episode may go on.
    pub(crate) going: &'a [bool],
    pub(crate) fold: &'a [u8],
    /// Discounted sums of the log.
    pub(crate) returns: &'a [f32],
    /// Values outside of this cannot be.
    pub(crate) range: (f32, f32),
}

/// What was learned of an action, or of all, from a fold: its trees, and the values of their leaves.
pub struct Advantage {
    pub(crate) trees: Vec<Tree>,
    pub(crate) values: Vec<Vec<f32>>,
    /// Where there are no trees.
    pub(crate) constant: f32,
}

/// Of every fold and action; of all actions together if they are pooled.
pub struct Fitted {
    pub(crate) advantages: Vec<Vec<Advantage>>,
    /// Mean change of the targets in every sweep.
    pub(crate) changes: Vec<f64>,
    /// Mean of the last targets of all steps.
    pub(crate) value: f64,
}

struct Fit<'a> {
    steps: &'a Steps<'a>,
    settings: &'a Settings,
    threads: usize,
    ticker: &'a Ticker,
    n_actions: usize,
    targets: Vec<f32>,
    values: Vec<Regression>,
    /// By fold, then action if these are not pooled.
    advantages: Vec<Regression>,
    /// Which actions the log has.
    taken: Vec<bool>,
}

/// Fits; the ticker counts trees and sweeps.
pub fn fit(steps: &Steps, settings: &Settings, threads: usize, ticker: &Ticker) -> Result<Fitted> {
    let n_actions = steps.bins.summaries.n_actions;
    let members = if settings.pooled { n_actions } else { 1 };
    let mut taken = vec![false; n_actions];
    steps.actions.iter().for_each(|&action| taken[action as usize] = true);
    let mut fit = Fit {
        steps,
        settings,
        threads,
        ticker,
        n_actions,
        targets: steps.returns.to_vec(),
        values: (0..FOLDS).map(|fold| Regression::of(steps, fold, None)).collect(),
        advantages: (0..FOLDS)
            .flat_map(|fold| (0..n_actions).step_by(members).map(move |first| (fold, first)))
            .map(|(fold, first)| Regression::of(steps, fold, Some(first..first + members)))
            .collect(),
        taken,
    };
    let mut changes = Vec::new();
    for stage in 0..settings.stages {
        fit.grow(stage, true)?;
        fit.sweep_values()?;
        if stage == 0 {
            // The value of the log's own policy, then one step of it: less noise than whole returns.
            fit.targets = fit.evaluated();
            fit.sweep_values()?;
        }
        fit.grow(stage, false)?;
        for sweep in 0..if stage == 0 { 1 } else { settings.sweeps } {
            ticker.check()?;
            if sweep > 0 {
                fit.sweep_values()?;
            }
            fit.sweep_advantages()?;
            let (new, change) = fit.improved()?;
            let size = mean(new.iter().map(|&target| f64::from(target.abs())));
            fit.targets = new;
            changes.push(change);
            ticker.advance(1);
            if sweep > 2 && change < DONE * (size + 1e-9) {
                break;
            }
        }
    }
    let value = mean(fit.targets.iter().map(|&target| f64::from(target)));
    let mut advantages: Vec<Vec<Advantage>> = (0..FOLDS).map(|_| Vec::new()).collect();
    for job in fit.advantages {
        let constant = job.out.first().copied().unwrap_or(0.0);
        advantages[job.fold].push(Advantage { trees: job.grown, values: job.leaves.values, constant });
    }
    Ok(Fitted { advantages, changes, value })
}

pub fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len().max(1) as f64;
    numbers.sum::<f64>() / count
}

impl Fit<'_> {
    /// Grows the trees of V, or of the advantages, on the present targets.
    fn grow(&mut self, stage: usize, of_values: bool) -> Result<()> {
        let (bins, settings) = (self.steps.bins, self.settings);
        let counts = bins.counts();
        let residuals = self.residuals(!of_values);
        let jobs = if of_values { &mut self.values } else { &mut self.advantages };
        let trees = if of_values { settings.value_trees } else { settings.trees };
        let smallest = settings.smallest * if of_values { 2 } else { 1 };
        let pooled = settings.pooled && !of_values;
        let own = if pooled { bins.taken(self.steps.actions, self.steps.before) } else { Vec::new() };
        let grow = |number: usize| {
            let job = &jobs[number / trees];
            if job.steps.len() < 2 * smallest {
                return None;
            }
            let wanted: Vec<f32> = job.steps.iter().map(|&step| residuals[step as usize]).collect();
            let kind = usize::from(!of_values);
            let rng = Rng::stream(settings.seed, ((2 * stage + kind) << 32 | number) as u64);
            let shared = || bins.shared().into_iter();
            let columns: Vec<&[u8]> = match &job.actions {
                None => bins.shared(),
                Some(_) if pooled => shared().chain(own.iter().map(Vec::as_slice)).collect(),
                Some(actions) => bins.of_action(actions.start),
            };
            let always = if pooled { own.len() } else { 0 };
            let tree =
                Tree::grown(&columns, &counts, &job.cuts, &wanted, smallest, always, &settings.growth, rng);
            let leaves = match &job.actions {
                None => tree.leaves(&columns, bins.n_cuts),
                Some(actions) => actions
                    .clone()
                    .flat_map(|action| tree.leaves(&bins.of_action(action), bins.n_cuts))
                    .collect(),
            };
            Some((tree, leaves))
        };
        let grown =
            map_blocks(self.threads, jobs.len() * trees, 1, self.ticker, |number| Ok(grow(number.start)))?;
        let mut grown = grown.into_iter();
        for job in jobs {
            (job.grown, job.leaves) = (Vec::new(), Leaves::default());
            for (tree, leaves) in grown.by_ref().take(trees).flatten() {
                job.leaves.trees.push((tree.n_leaves, leaves));
                job.grown.push(tree);
            }
        }
        Ok(())
    }

    /// Targets, less V of the fold of the step if `centred`.
    fn residuals(&self, centred: bool) -> Vec<f32> {
        let value = |step: usize| {
            let value = self.values[self.steps.fold[step] as usize].out[self.steps.before[step] as usize];
            if centred { value } else { 0.0 }
        };
        self.targets.iter().enumerate().map(|(step, target)| target - value(step)).collect()
    }

    fn sweep_values(&mut self) -> Result<()> {
        let targets = &self.targets;
        for_each(self.threads, self.values.iter_mut().collect(), |job: &mut Regression| {
            job.sweep(targets, 0.0, None);
        })
    }

    fn sweep_advantages(&mut self) -> Result<()> {
        let residuals = self.residuals(true);
        let shrinkage = self.settings.shrinkage;
        // What no tree speaks for is worth no more than anything else.
        let lowest = residuals.iter().copied().reduce(f32::min);
        for_each(self.threads, self.advantages.iter_mut().collect(), |job: &mut Regression| {
            job.sweep(&residuals, shrinkage, lowest);
        })
    }

    /// r + γ V(next), V of the other fold.
    fn evaluated(&self) -> Vec<f32> {
        let value = |step: usize| {
            self.values[1 - self.steps.fold[step] as usize].out[self.steps.before[step] as usize + 1]
        };
        (0..self.targets.len()).map(|step| self.target(step, value(step))).collect()
    }

    fn target(&self, step: usize, value: f32) -> f32 {
        let (low, high) = self.steps.range;
        let ahead = if self.steps.going[step] { value.clamp(low, high) } else { 0.0 };
        self.steps.rewards[step] + self.settings.discount as f32 * ahead
    }

    /// Of an action at every cut, by a fold.
    fn advantages_of(&self, fold: usize, action: usize) -> &[f32] {
        if self.settings.pooled {
            let cuts = self.steps.bins.n_cuts;
            &self.advantages[fold].out[action * cuts..(action + 1) * cuts]
        } else {
            &self.advantages[fold * self.n_actions + action].out
        }
    }

    /// (r + γ Q(next, best), the mean change).
    fn improved(&self) -> Result<(Vec<f32>, f64)> {
        let value = |step: usize, best: f32, choice: usize| {
            let (mine, cut) = (self.steps.fold[step] as usize, self.steps.before[step] as usize + 1);
            let own = self.values[mine].out[cut] + best;
            let judged = self.values[1 - mine].out[cut] + self.advantages_of(1 - mine, choice)[cut];
            0.5 * (own + judged - self.settings.caution * (own - judged).abs())
        };
        let blocks = map_blocks(self.threads, self.targets.len(), BLOCK, &Ticker::default(), |steps| {
            // One action after the other: what is known of it lies in memory by cut.
            let mut best = vec![(f32::NEG_INFINITY, 0); steps.len()];
            for action in (0..self.n_actions).filter(|&action| self.taken[action]) {
                let known = [self.advantages_of(0, action), self.advantages_of(1, action)];
                for (best, step) in best.iter_mut().zip(steps.clone()) {
                    let value = known[self.steps.fold[step] as usize][self.steps.before[step] as usize + 1];
                    if value > best.0 {
                        *best = (value, action);
                    }
                }
            }
            let mut change = 0.0;
            let new: Vec<f32> = steps
                .zip(best)
                .map(|(step, (best, choice))| {
                    let new = self.target(step, value(step, best, choice));
                    change += f64::from((new - self.targets[step]).abs());
                    new
                })
                .collect();
            Ok((new, change))
        })?;
        let (new, changes): (Vec<_>, Vec<f64>) = blocks.into_iter().unzip();
        Ok((new.concat(), changes.iter().sum::<f64>() / self.targets.len() as f64))
    }
}
