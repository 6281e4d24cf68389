//! What a step shows beside its observation: a class of rewards, and whether the episode ended.

use crate::trajectories::View;

/// Rewards with more distinct values than this are put into classes of equal frequency.
const MOST_CLASSES: usize = 12;

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
    pub fn of(view: &View, terminated: &[bool]) -> Self {
        let mut sorted = view.rewards.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut edges = sorted.clone();
        edges.dedup();
        if edges.len() > MOST_CLASSES {
            edges = (1..=MOST_CLASSES).map(|c| sorted[c * sorted.len() / MOST_CLASSES - 1]).collect();
            edges.dedup();
        }
        let mut classes = RewardClasses { means: vec![0.0; edges.len()], edges, law: Vec::new() };
        let mut counts = vec![0.0; classes.means.len()];
        for &reward in view.rewards {
            let class = classes.class(reward);
            classes.means[class] += reward;
            counts[class] += 1.0;
        }
        classes.means.iter_mut().zip(&counts).for_each(|(mean, count)| *mean /= f64::max(*count, 1.0));
        classes.law = classes.count_events(view, terminated);
        classes
    }

    fn count_events(&self, view: &View, terminated: &[bool]) -> Vec<f32> {
        let mut law = vec![0.0f32; view.n_actions * self.n_events()];
        for (episode, &ends) in terminated.iter().enumerate() {
            let steps = view.episode(episode);
            for step in steps.clone() {
                let event = self.event(view.rewards[step], ends && step + 1 == steps.end);
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
            n_actions: 1,
            n_observations: 1,
        };
        let many = RewardClasses::of(&view, &[true]);
        assert_eq!(many.n_events(), 2 * MOST_CLASSES);
        assert_eq!(many.event(0.0, false), 0);
        assert_eq!(many.event(1e9, true), 2 * MOST_CLASSES - 1);
        assert!((many.law().iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let few: Vec<f64> = rewards.iter().map(|r| (r / 50.0).floor()).collect();
        view.rewards = &few;
        let classes = RewardClasses::of(&view, &[false]);
        assert_eq!((classes.n_events(), classes.mean_reward(3)), (4, 1.0));
    }
}
