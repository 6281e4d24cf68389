//! One regression of fitted Q iteration: whose values, on which steps, with which trees.

use std::ops::Range;

use crate::learn::forests::fitted::{Steps, mean};
use crate::learn::forests::sweeps::Leaves;
use crate::learn::forests::tree::Tree;

/// Of V, or of the advantages of some actions, its members, in a fold.
pub struct Regression {
    pub(crate) fold: usize,
    /// None is V.
    pub(crate) actions: Option<Range<usize>>,
    /// The steps that it learns from, the cuts before them, and the members that were taken.
    pub(crate) steps: Vec<u32>,
    pub(crate) cuts: Vec<u32>,
    members: Vec<u32>,
    pub(crate) grown: Vec<Tree>,
    pub(crate) leaves: Leaves,
    /// At every cut of member 0, of member 1, …
    pub(crate) out: Vec<f32>,
}

impl Regression {
    /// Without trees yet.
    pub fn of(steps: &Steps, fold: usize, actions: Option<Range<usize>>) -> Self {
        let (mut mine, mut cuts, mut members) = (Vec::new(), Vec::new(), Vec::new());
        for (step, &taken) in steps.actions.iter().enumerate() {
            let (taken, actions) = (taken as usize, actions.as_ref());
            let member = actions.map_or(Some(0), |all| all.contains(&taken).then(|| taken - all.start));
            if let Some(member) = member.filter(|_| steps.fold[step] as usize == fold) {
                mine.push(step as u32);
                cuts.push(steps.before[step]);
                members.push(member as u32);
            }
        }
        let count = actions.as_ref().map_or(1, ExactSizeIterator::len);
        let out = vec![0.0; steps.bins.n_cuts * count];
        let leaves = Leaves::default();
        Regression { fold, actions, steps: mine, cuts, members, grown: Vec::new(), leaves, out }
    }

    /// Values of the leaves from the targets of all steps. Without trees all is worth the `constant`, or the mean.
    pub fn sweep(&mut self, targets: &[f32], shrinkage: f64, constant: Option<f32>) {
        let wanted: Vec<f32> = self.steps.iter().map(|&step| targets[step as usize]).collect();
        if self.leaves.trees.is_empty() {
            let mean = || mean(wanted.iter().map(|&target| f64::from(target))) as f32;
            return self.out.fill(constant.unwrap_or_else(mean));
        }
        let cuts = self.out.len() / self.actions.as_ref().map_or(1, ExactSizeIterator::len);
        let place = |(&cut, &member): (&u32, &u32)| member as usize * cuts + cut as usize;
        let places: Vec<usize> = self.cuts.iter().zip(&self.members).map(place).collect();
        self.leaves.sweep(&places, &wanted, shrinkage, &mut self.out);
    }
}
