//! The search tree: histories and the actions tried after them, in two flat arrays.

use crate::rng::Rng;
use crate::simulate::planning::Actions;

pub const ROOT: usize = 0;

/// No node; also no observation that a world could have.
const NOBODY: u32 = u32::MAX;

/// A history. Its edges stand side by side, one for each legal action.
#[derive(Clone, Debug)]
struct Node {
    visits: u32,
    first_edge: u32,
    n_edges: u32,
    observation: u32,
    /// The next history that differs from this one in the last observation only.
    sibling: u32,
}

/// An action after a history, with the mean of the returns that followed.
#[derive(Clone, Debug)]
pub struct Edge {
    pub action: u32,
    pub visits: u32,
    pub value: f64,
    first_child: u32,
}

/// Children of an edge form a linked list: they are short, since most worlds show one of some observations after one
/// action, and a list needs no memory of its own.
#[derive(Clone, Debug)]
pub struct Tree {
    n_actions: usize,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Tree {
    /// A root alone, with memory for `max_nodes`.
    pub fn new(n_actions: usize, legal: Actions, max_nodes: usize) -> Self {
        let nodes = Vec::with_capacity(max_nodes);
        let edges = Vec::with_capacity(max_nodes * n_actions.min(8));
        let mut tree = Tree { n_actions, nodes, edges };
        tree.push(NOBODY, NOBODY, legal);
        tree
    }

    fn push(&mut self, observation: u32, sibling: u32, legal: Actions) -> usize {
        let first_edge = self.edges.len() as u32;
        let actions = (0..self.n_actions).filter(|&action| legal.contains(action));
        let fresh = |action| Edge { action: action as u32, visits: 0, value: 0.0, first_child: NOBODY };
        self.edges.extend(actions.map(fresh));
        let n_edges = self.edges.len() as u32 - first_edge;
        self.nodes.push(Node { visits: 0, first_edge, n_edges, observation, sibling });
        self.nodes.len() - 1
    }

    /// Adds the history that continues `edge` with `observation`.
    pub fn grow(&mut self, edge: usize, observation: usize, legal: Actions) -> usize {
        let child = self.push(observation as u32, self.edges[edge].first_child, legal);
        self.edges[edge].first_child = child as u32;
        child
    }

    #[inline]
    pub fn child(&self, edge: usize, observation: usize) -> Option<usize> {
        let mut child = self.edges[edge].first_child;
        while child != NOBODY {
            let node = &self.nodes[child as usize];
            if node.observation == observation as u32 {
                return Some(child as usize);
            }
            child = node.sibling;
        }
        None
    }

    pub fn edge(&self, edge: usize) -> &Edge {
        &self.edges[edge]
    }

    pub fn edges_of(&self, node: usize) -> &[Edge] {
        let Node { first_edge, n_edges, .. } = self.nodes[node];
        &self.edges[first_edge as usize..(first_edge + n_edges) as usize]
    }

    /// UCB1: the edge to follow from `node`. Edges never followed come first, in random order: a fixed one
    /// would bias every node that few simulations reach.
    #[inline]
    pub fn select(&self, node: usize, exploration: f64, rng: &mut Rng) -> usize {
        let first = self.nodes[node].first_edge as usize;
        let edges = self.edges_of(node);
        let untried = edges.iter().filter(|edge| edge.visits == 0).count();
        if untried > 0 {
            let chosen = rng.below(untried);
            let mut fresh = edges.iter().enumerate().filter(|(_, edge)| edge.visits == 0);
            return first + fresh.nth(chosen).map_or(0, |(place, _)| place);
        }
        let spread = exploration * f64::from(self.nodes[node].visits).ln().sqrt();
        let bound = |edge: &Edge| edge.value + spread / f64::from(edge.visits).sqrt();
        let mut best = (0, f64::NEG_INFINITY);
        for (place, edge) in edges.iter().enumerate() {
            let score = bound(edge);
            if score > best.1 {
                best = (place, score);
            }
        }
        first + best.0
    }

    /// Records that following `edge` from `node` led to this return.
    #[inline]
    pub fn record(&mut self, node: usize, edge: usize, total: f64) {
        self.nodes[node].visits += 1;
        let edge = &mut self.edges[edge];
        edge.visits += 1;
        edge.value += (total - edge.value) / f64::from(edge.visits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_by_observation() {
        let mut tree = Tree::new(3, Actions::Bits(0b101), 4);
        assert_eq!(tree.edges_of(ROOT).iter().map(|edge| edge.action).collect::<Vec<_>>(), [0, 2]);
        let seven = tree.grow(1, 7, Actions::All);
        let nine = tree.grow(1, 9, Actions::All);
        assert_eq!([tree.child(1, 7), tree.child(1, 9)], [Some(seven), Some(nine)]);
        assert_eq!([tree.child(1, 8), tree.child(0, 7)], [None, None]);
    }

    #[test]
    fn every_edge_is_tried_before_any_is_repeated_and_then_the_best_prevails() {
        let (mut tree, mut rng) = (Tree::new(4, Actions::All, 1), Rng::stream(0, 0));
        for visit in 0..1000 {
            let edge = tree.select(ROOT, 1.0, &mut rng);
            assert!(visit >= 4 || tree.edge(edge).visits == 0);
            tree.record(ROOT, edge, if edge == 2 { 1.0 } else { 0.0 });
        }
        assert_eq!(tree.edge(2).value, 1.0);
        assert!(tree.edge(2).visits > 900);
        assert!(tree.edges_of(ROOT).iter().all(|edge| edge.visits > 5));
    }
}
