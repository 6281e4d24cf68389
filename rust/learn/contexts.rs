//! The last few symbols before every step, as a tree: a child reaches one symbol farther back than its parent.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::trajectories::{View, start_symbol, symbol};

/// The contexts of a data set.
pub struct Contexts {
    /// Parent of nodes 1, 2, …, and the symbol by which each reaches farther back. Node 0 is the empty context.
    pub edges: Vec<(u32, u32)>,
    /// Node of the longest context at every cut, from before the first step of an episode to after its last.
    pub at_cuts: Vec<u32>,
}

/// Contexts of up to `depth` symbols, the first of an episode being its start or what it showed first. Those of two
/// symbols and more must occur `min_count` times before a step; what follows the last step of an episode is looked
/// up, not counted. There are at most `max_nodes` nodes: where there would be more, the commonest are kept, short ones
/// first.
pub fn tree(view: &View, depth: usize, min_count: u32, max_nodes: usize) -> Contexts {
    let cuts = view.n_steps() + view.n_episodes();
    // The symbol that leads to every cut, and how many steps of its episode lie before it.
    let (mut arriving, mut position) = (Vec::with_capacity(cuts), Vec::with_capacity(cuts));
    for episode in 0..view.n_episodes() {
        let start = match view.first(episode) {
            Some(first) => symbol(view.n_actions as i32, first as i32, view.n_observations),
            None => start_symbol(view.n_actions, view.n_observations),
        };
        arriving.push(start as u32);
        arriving.extend(view.episode(episode).map(|step| view.symbol(step) as u32));
        position.extend(0..=view.episode(episode).len() as u32);
    }
    let before_step = |cut: usize| position.get(cut + 1).is_some_and(|&steps| steps > 0);
    let (mut edges, mut at_cuts) = (Vec::new(), vec![0; cuts]);
    // Cuts whose context may be longer still.
    let mut open: Vec<usize> = (0..cuts).collect();
    for level in 0..depth {
        open.retain(|&cut| position[cut] as usize >= level);
        let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut found = Vec::new();
        for &cut in open.iter().filter(|cut| before_step(**cut)) {
            let edge = (at_cuts[cut], arriving[cut - level]);
            *counts.entry(edge).or_insert_with(|| {
                found.push(edge);
                0
            }) += 1;
        }
        let needed = if level == 0 { 1 } else { min_count };
        found.retain(|edge| counts[edge] >= needed);
        let room = max_nodes.saturating_sub(edges.len() + 1);
        if found.len() > room {
            found.sort_by_key(|edge| Reverse(counts[edge]));
            found.truncate(room);
        }
        let nodes: FxHashMap<(u32, u32), u32> = found.iter().copied().zip(edges.len() as u32 + 1..).collect();
        edges.extend(found);
        open.retain(|&cut| match nodes.get(&(at_cuts[cut], arriving[cut - level])) {
            Some(&node) => {
                at_cuts[cut] = node;
                true
            }
            None => false,
        });
    }
    Contexts { edges, at_cuts }
}
