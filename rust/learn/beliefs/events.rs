//! What a step shows beside its observation: a class of rewards, and whether the episode ended.

use crate::error::{Error, Result};
use crate::learn::beliefs::layout::Layout;
use crate::trajectories::View;

/// Rewards with more distinct values than this are put into classes of equal frequency.
const MAX_CLASSES: usize = 12;

/// Events are numbered 2 · class + ended.
#[derive(Clone, Debug)]
pub struct RewardClasses {
    /// Class c holds the rewards above `edges[c - 1]` and up to `edges[c]`.
    edges: Vec<f64>,
    means: Vec<f64>,
}

impl RewardClasses {
    /// Of some rewards, at least one.
    pub(crate) fn of(rewards: &[f64]) -> Self {
        let mut sorted = rewards.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut edges = sorted.clone();
        edges.dedup();
        if edges.len() > MAX_CLASSES {
            edges = (1..=MAX_CLASSES).map(|c| sorted[c * sorted.len() / MAX_CLASSES - 1]).collect();
            edges.dedup();
        }
        let mut classes = RewardClasses { means: vec![0.0; edges.len()], edges };
        let mut counts = vec![0.0; classes.means.len()];
        for &reward in rewards {
            let class = classes.class(reward);
            classes.means[class] += reward;
            counts[class] += 1.0;
        }
        classes.means.iter_mut().zip(&counts).for_each(|(mean, count)| *mean /= f64::max(*count, 1.0));
        classes
    }

    /// How often every event occurred: (actions, events).
    fn counts(&self, view: &View, episodes: &[usize]) -> Vec<f32> {
        let mut counts = vec![0.0f32; view.n_actions * self.n_events()];
        for &episode in episodes {
            let steps = view.episode(episode);
            for step in steps.clone() {
                let event = self.event(view.rewards[step], view.terminated[episode] && step + 1 == steps.end);
                counts[view.actions[step] as usize * self.n_events() + event] += 1.0;
            }
        }
        counts
    }

    pub(crate) fn class(&self, reward: f64) -> usize {
        self.edges.partition_point(|&edge| edge < reward).min(self.edges.len() - 1)
    }

    pub(crate) fn n_events(&self) -> usize {
        2 * self.edges.len()
    }

    /// At least one edge and as many means.
    pub fn new(edges: Vec<f64>, means: Vec<f64>) -> Self {
        RewardClasses { edges, means }
    }

    /// Class c holds the rewards above edge c − 1 and up to edge c.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The mean reward of every class.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    pub(crate) fn event(&self, reward: f64, ended: bool) -> usize {
        2 * self.class(reward) + usize::from(ended)
    }

    /// 0 for an event that only other tasks have.
    pub fn mean_reward(&self, event: usize) -> f32 {
        self.means.get(event / 2).map_or(0.0, |&mean| mean as f32)
    }
}

/// The tasks that episodes belong to: each has its own rewards and ends, in one world.
#[derive(Clone, Debug)]
pub struct Tasks {
    of_episode: Vec<u32>,
    classes: Vec<RewardClasses>,
    /// How often every event occurred: (tasks, actions, events of the task).
    counts: Vec<Vec<f32>>,
}

impl Tasks {
    /// `of_episode` numbers them from 0; every number up to the largest must occur.
    pub fn of(view: &View, of_episode: Vec<u32>) -> Result<Self> {
        let count = of_episode.iter().max().map_or(0, |&task| task as usize + 1).min(of_episode.len());
        let mut episodes = vec![Vec::new(); count];
        for (episode, &task) in of_episode.iter().enumerate() {
            let group = episodes.get_mut(task as usize);
            group.ok_or_else(|| too_sparse(task))?.push(episode);
        }
        if let Some(missing) = episodes.iter().position(Vec::is_empty) {
            return Err(too_sparse(missing as u32));
        }
        let rewards = |group: &Vec<usize>| -> Vec<f64> {
            group.iter().flat_map(|&episode| &view.rewards[view.episode(episode)]).copied().collect()
        };
        let classes: Vec<RewardClasses> =
            episodes.iter().map(|group| RewardClasses::of(&rewards(group))).collect();
        let counts =
            classes.iter().zip(&episodes).map(|(classes, group)| classes.counts(view, group)).collect();
        Ok(Tasks { of_episode, classes, counts })
    }

    /// Tasks of which the rewards are known, but no episode.
    pub fn from_parts(classes: Vec<RewardClasses>, counts: Vec<Vec<f32>>) -> Self {
        Tasks { of_episode: Vec::new(), classes, counts }
    }

    /// How often every event occurred: (tasks, actions, events of the task).
    pub fn counts(&self) -> &[Vec<f32>] {
        &self.counts
    }

    /// The episodes of other data, each of one of these tasks.
    pub fn applied(&self, of_episode: Vec<u32>) -> Self {
        Tasks { of_episode, ..self.clone() }
    }

    pub(crate) fn count(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn of_episode(&self, episode: usize) -> usize {
        self.of_episode.get(episode).map_or(0, |&task| task as usize)
    }

    pub(crate) fn classes(&self, task: usize) -> &RewardClasses {
        &self.classes[task]
    }

    /// Of the task with the most.
    pub fn n_events(&self) -> usize {
        self.classes.iter().map(RewardClasses::n_events).max().unwrap_or(0)
    }

    /// Frequency of every event by kind of action: (tasks, kinds, events); 0 for the events that a task does not have.
    pub fn law(&self, layout: &Layout) -> Vec<f32> {
        let (kinds, events) = (layout.n_kinds, layout.n_events);
        let mut law = vec![0.0; self.count() * kinds * events];
        for (task, counts) in self.counts.iter().enumerate() {
            let own = self.classes[task].n_events();
            for (action, row) in counts.chunks_exact(own).enumerate() {
                let place = (task * kinds + layout.kinds[action] as usize) * events;
                law[place..place + own].iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            }
        }
        for row in law.chunks_exact_mut(events) {
            let total = row.iter().sum::<f32>().max(1.0);
            row.iter_mut().for_each(|count| *count /= total);
        }
        law
    }
}

fn too_sparse(task: u32) -> Error {
    Error::argument(
        "tasks",
        format!("no episode of task {task}"),
        "number the tasks 0, 1, 2, … without a gap",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_kept_and_many_are_grouped() {
        let zeros = [0; 100];
        let rewards: Vec<f64> = (0..100).map(f64::from).collect();
        let view = View {
            actions: &zeros,
            observations: &zeros,
            rewards: &rewards,
            offsets: &[0, 100],
            behavior_probs: None,
            terminated: &[true],
            first_observations: None,
            n_actions: 1,
            n_observations: 1,
        };
        let many = RewardClasses::of(&rewards);
        assert_eq!(many.n_events(), 2 * MAX_CLASSES);
        assert_eq!(many.event(0.0, false), 0);
        assert_eq!(many.event(1e9, true), 2 * MAX_CLASSES - 1);
        assert_eq!(many.counts(&view, &[0]).iter().sum::<f32>(), 100.0);
        let few: Vec<f64> = rewards.iter().map(|r| (r / 50.0).floor()).collect();
        let classes = RewardClasses::of(&few);
        assert_eq!((classes.n_events(), classes.mean_reward(3)), (4, 1.0));
    }
}
