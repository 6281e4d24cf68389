//! What a step shows beside its observation: a class of rewards, and whether the episode ended.

use crate::error::{Error, Result};
use crate::trajectories::View;

/// Rewards with more distinct values than this are put into classes of equal frequency.
const MAX_CLASSES: usize = 12;

/// Events are numbered 2 · class + ended.
#[derive(Clone, Debug)]
pub struct RewardClasses {
    /// Class c holds the rewards above `edges[c - 1]` and up to `edges[c]`.
    edges: Vec<f64>,
    means: Vec<f64>,
    /// Frequency of every event by action: (actions, events).
    law: Vec<f32>,
}

impl RewardClasses {
    pub fn of(view: &View, episodes: &[usize]) -> Self {
        let steps = || episodes.iter().flat_map(|&episode| view.episode(episode));
        let mut sorted: Vec<f64> = steps().map(|step| view.rewards[step]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut edges = sorted.clone();
        edges.dedup();
        if edges.len() > MAX_CLASSES {
            edges = (1..=MAX_CLASSES).map(|c| sorted[c * sorted.len() / MAX_CLASSES - 1]).collect();
            edges.dedup();
        }
        let mut classes = RewardClasses { means: vec![0.0; edges.len()], edges, law: Vec::new() };
        let mut counts = vec![0.0; classes.means.len()];
        for step in steps() {
            let class = classes.class(view.rewards[step]);
            classes.means[class] += view.rewards[step];
            counts[class] += 1.0;
        }
        classes.means.iter_mut().zip(&counts).for_each(|(mean, count)| *mean /= f64::max(*count, 1.0));
        classes.law = classes.count_events(view, episodes);
        classes
    }

    fn count_events(&self, view: &View, episodes: &[usize]) -> Vec<f32> {
        let mut law = vec![0.0f32; view.n_actions * self.n_events()];
        for &episode in episodes {
            let steps = view.episode(episode);
            for step in steps.clone() {
                let event = self.event(view.rewards[step], view.terminated[episode] && step + 1 == steps.end);
                law[view.actions[step] as usize * self.n_events() + event] += 1.0;
            }
        }
        for row in law.chunks_exact_mut(self.n_events()) {
            let total = row.iter().sum::<f32>().max(1.0);
            row.iter_mut().for_each(|count| *count /= total);
        }
        law
    }

    fn class(&self, reward: f64) -> usize {
        self.edges.partition_point(|&edge| edge < reward).min(self.edges.len() - 1)
    }

    pub fn n_events(&self) -> usize {
        2 * self.edges.len()
    }

    /// Class c holds the rewards above edge c − 1 and up to edge c.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    pub fn event(&self, reward: f64, ended: bool) -> usize {
        2 * self.class(reward) + usize::from(ended)
    }

    pub fn mean_reward(&self, event: usize) -> f32 {
        self.means[event / 2] as f32
    }

    pub fn law(&self) -> &[f32] {
        &self.law
    }
}

/// The tasks that episodes belong to: each has its own rewards and ends, in one world.
#[derive(Clone, Debug)]
pub struct Tasks {
    of_episode: Vec<u32>,
    classes: Vec<RewardClasses>,
    n_actions: usize,
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
        let classes = episodes.iter().map(|group| RewardClasses::of(view, group)).collect();
        Ok(Tasks { of_episode, classes, n_actions: view.n_actions })
    }

    /// All episodes of other data, of one of these tasks.
    pub fn applied(&self, n_episodes: usize, task: u32) -> Self {
        Tasks { of_episode: vec![task; n_episodes], ..self.clone() }
    }

    pub fn count(&self) -> usize {
        self.classes.len()
    }

    pub fn of_episode(&self, episode: usize) -> usize {
        self.of_episode[episode] as usize
    }

    pub fn classes(&self, task: usize) -> &RewardClasses {
        &self.classes[task]
    }

    /// Of the task with the most.
    pub fn n_events(&self) -> usize {
        self.classes.iter().map(RewardClasses::n_events).max().unwrap_or(0)
    }

    /// Frequency of every event: (tasks, actions, events); 0 for the events that a task does not have.
    pub fn law(&self) -> Vec<f32> {
        let mut law = Vec::with_capacity(self.count() * self.n_actions * self.n_events());
        for classes in &self.classes {
            for row in classes.law().chunks_exact(classes.n_events()) {
                law.extend_from_slice(row);
                law.resize(law.len() + self.n_events() - row.len(), 0.0);
            }
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
        let mut view = View {
            actions: &zeros,
            observations: &zeros,
            rewards: &rewards,
            offsets: &[0, 100],
            behavior_probs: None,
            terminated: &[true],
            n_actions: 1,
            n_observations: 1,
        };
        let many = RewardClasses::of(&view, &[0]);
        assert_eq!(many.n_events(), 2 * MAX_CLASSES);
        assert_eq!(many.event(0.0, false), 0);
        assert_eq!(many.event(1e9, true), 2 * MAX_CLASSES - 1);
        assert!((many.law().iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let few: Vec<f64> = rewards.iter().map(|r| (r / 50.0).floor()).collect();
        view.rewards = &few;
        let classes = RewardClasses::of(&view, &[0]);
        assert_eq!((classes.n_events(), classes.mean_reward(3)), (4, 1.0));
    }
}
