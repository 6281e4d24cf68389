//! A policy that looks at the longest known sequence of symbols that a history ends with.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::policies::array::Array;
use crate::policies::{Parted, check_finite, indices, listed};
use crate::simulate::policy::{Policy, Rule};
use crate::trajectories::start_symbol;

/// Longer contexts than this hardly ever come back.
pub const MAX_DEPTH: usize = 16;

/// Values by context: a context is what a history ends with. The symbol after all those of steps and of first
/// observations stands for the start of an episode that shows nothing first. Contexts form a tree: node 0 is the empty
/// context, and a child reaches one symbol farther back than its parent. The longest known context counts.
#[derive(Clone, Debug)]
pub struct ContextPolicy {
    n_actions: usize,
    n_observations: usize,
    depth: usize,
    children: FxHashMap<(u32, u32), u32>,
    /// Whether any context begins with what an episode showed before its first action.
    opens: bool,
    /// Parent of nodes 1, 2, …, and the symbol by which each reaches farther back.
    edges: Vec<(u32, u32)>,
    pub(crate) values: Array<f64, 2>,
    rule: Rule,
}

/// What it is made of.
pub struct Parts {
    /// Parent of nodes 1, 2, …; parents come before their children.
    pub parents: Vec<i64>,
    /// The symbol by which each of them reaches farther back.
    pub symbols: Vec<i64>,
    /// (nodes, actions)
    pub values: Array<f64, 2>,
    /// Number of observations.
    pub n_observations: usize,
    /// Of acting.
    pub rule: Rule,
}

impl Parted for ContextPolicy {
    type Parts = Parts;

    fn new(Parts { parents, symbols, values, n_observations, rule }: Parts) -> Result<Self> {
        if parents.len() != symbols.len() {
            let given = format!("{} parents and {} symbols", parents.len(), symbols.len());
            return Err(Error::argument("parents", given, "give one of each for every context"));
        }
        let edges = indices("parents", &parents)?.into_iter().zip(indices("symbols", &symbols)?).collect();
        Self::of(edges, values, n_observations, rule)
    }

    fn parts(&self) -> Parts {
        Parts {
            parents: listed(self.edges.iter().map(|edge| edge.0)),
            symbols: listed(self.edges.iter().map(|edge| edge.1)),
            values: self.values.clone(),
            n_observations: self.n_observations,
            rule: self.rule.clone(),
        }
    }
}

impl ContextPolicy {
    fn of(edges: Vec<(u32, u32)>, values: Array<f64, 2>, n_observations: usize, rule: Rule) -> Result<Self> {
        let (nodes, n_actions) = (edges.len() + 1, values.shape[1]);
        if n_actions == 0 || n_observations == 0 || values.shape[0] != nodes {
            let remedy = format!("expected {nodes} rows of {n_actions}, one for every context");
            return Err(Error::argument("values", format!("{} entries", values.len()), remedy));
        }
        check_finite("values", &values)?;
        rule.check(n_actions)?;
        let mut depths = vec![0; nodes];
        let mut children = FxHashMap::with_capacity_and_hasher(edges.len(), Default::default());
        for (place, &(parent, symbol)) in edges.iter().enumerate() {
            let node = place + 1;
            if parent as usize >= node || symbol as usize > start_symbol(n_actions, n_observations) {
                let given = format!("node {node} is symbol {symbol} below node {parent}");
                return Err(Error::argument("parents", given, "parents come first, symbols are in range"));
            }
            if children.insert((parent, symbol), node as u32).is_some() {
                let given = format!("symbol {symbol} below node {parent}");
                return Err(Error::argument("symbols", given, "every context only once"));
            }
            depths[node] = depths[parent as usize] + 1;
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(Error::argument("parents", format!("depth {depth}"), format!("at most {MAX_DEPTH}")));
        }
        let openings = n_actions * n_observations..start_symbol(n_actions, n_observations);
        let opens = edges.iter().any(|edge| openings.contains(&(edge.1 as usize)));
        Ok(ContextPolicy { n_actions, n_observations, depth, children, opens, edges, values, rule })
    }

    /// The policy at temperature 1 on the sum of both values, each in units of its own temperature. It knows the
    /// contexts of both; acting takes no longer however many sums there were. Actions need the support of both.
    pub fn plus(&self, other: &ContextPolicy) -> Result<ContextPolicy> {
        if (self.n_actions, self.n_observations) != (other.n_actions, other.n_observations) {
            let given = format!("{} actions, {} observations", other.n_actions, other.n_observations);
            let remedy = format!("expected {} and {}", self.n_actions, self.n_observations);
            return Err(Error::argument("other", given, remedy));
        }
        let (mut edges, mut children) = (self.edges.clone(), self.children.clone());
        let mut places = vec![0];
        for &(parent, symbol) in &other.edges {
            let above = places[parent as usize];
            places.push(*children.entry((above, symbol)).or_insert_with(|| {
                edges.push((above, symbol));
                edges.len() as u32
            }));
        }
        let mut theirs = vec![None; edges.len() + 1];
        places.iter().zip(0u32..).for_each(|(&node, own)| theirs[node as usize] = Some(own));
        let scales =
            [self, other].map(|policy| policy.rule.temperature).map(|t| if t > 0.0 { 1.0 / t } else { 1.0 });
        // The longest context of each policy that every context of the sum ends with.
        let mut known = vec![(0, 0)];
        let mut values = Vec::with_capacity((edges.len() + 1) * self.n_actions);
        for node in 0..=edges.len() {
            if node > 0 {
                let above = known[edges[node - 1].0 as usize];
                let mine = if node <= self.edges.len() { node as u32 } else { above.0 };
                known.push((mine, theirs[node].unwrap_or(above.1)));
            }
            let rows =
                self.values.row(known[node].0 as usize).iter().zip(other.values.row(known[node].1 as usize));
            values.extend(rows.map(|(x, y)| x * scales[0] + y * scales[1]));
        }
        let supported = match (&self.rule.supported, &other.rule.supported) {
            (Some(mine), Some(theirs)) => Some(mine.iter().zip(theirs).map(|(&x, &y)| x && y).collect()),
            (mine, theirs) => mine.as_ref().or(theirs.as_ref()).cloned(),
        };
        let values = Array::rows(values, self.n_actions);
        Self::of(edges, values, self.n_observations, Rule { temperature: 1.0, supported })
    }
}

/// The last symbols, the newest last.
#[derive(Clone, Debug)]
pub struct Memory(Vec<u32>);

impl Policy for ContextPolicy {
    type Memory = Memory;

    sizes_and_rule!();

    fn describe(&self) -> String {
        format!("{} contexts of up to {} symbols", self.edges.len() + 1, self.depth)
    }

    fn start(&self) -> Memory {
        let mut recent = Vec::with_capacity(self.depth + 1);
        recent.push(start_symbol(self.n_actions, self.n_observations) as u32);
        Memory(recent)
    }

    fn knows(&self, memory: &Memory) -> bool {
        memory.0.len() <= self.depth.max(1)
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let mut node = 0;
        for &symbol in memory.0.iter().rev() {
            match self.children.get(&(node, symbol)) {
                Some(&child) => node = child,
                None => break,
            }
        }
        values.copy_from_slice(self.values.row(node as usize));
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        if action == self.n_actions {
            if !self.opens {
                return;
            }
            memory.0.clear();
        } else if memory.0.len() >= self.depth.max(1) {
            memory.0.remove(0);
        }
        memory.0.push((action * self.n_observations + observation) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn policy(
        edges: Vec<(u32, u32)>,
        values: Vec<f64>,
        n_observations: usize,
        temperature: f64,
    ) -> Result<ContextPolicy> {
        ContextPolicy::of(
            edges,
            Array::rows(values, 1),
            n_observations,
            Rule { temperature, supported: None },
        )
    }

    fn values_along(policy: &ContextPolicy, observations: &[usize]) -> Vec<f64> {
        let (mut memory, mut value) = (policy.start(), [0.0]);
        let mut read = |memory: &Memory| {
            policy.q_values(memory, &mut value);
            value[0]
        };
        let first = read(&memory);
        let rest = observations.iter().map(|&observation| {
            policy.update(&mut memory, 0, observation);
            read(&memory)
        });
        std::iter::once(first).chain(rest).collect()
    }

    #[test]
    fn the_longest_known_context_counts() {
        // Contexts: none, the start, symbol 1, and symbol 1 after symbol 0.
        let edges = vec![(0, 4), (0, 1), (2, 0)];
        let policy = policy(edges, vec![0.0, 1.0, 2.0, 3.0], 2, 0.0).unwrap();
        assert_eq!(values_along(&policy, &[0, 1, 1, 0]), [1.0, 0.0, 3.0, 2.0, 0.0]);
    }

    #[test]
    fn a_sum_acts_on_the_sum_of_both_values() {
        let mut rng = Rng::stream(0, 0);
        for _ in 0..200 {
            let mut random = |nodes: usize, temperature: f64| {
                let mut edges = Vec::new();
                while edges.len() < nodes {
                    let edge = (rng.below(edges.len() + 1) as u32, rng.below(4) as u32);
                    if !edges.contains(&edge) {
                        edges.push(edge);
                    }
                }
                let values = (0..=nodes).map(|_| rng.uniform()).collect();
                policy(edges, values, 3, temperature)
            };
            let (Ok(one), Ok(two)) = (random(7, 0.5), random(9, 2.0)) else { continue };
            let both = one.plus(&two).unwrap();
            let history: Vec<usize> = (0..40).map(|_| rng.below(3)).collect();
            let parts = values_along(&one, &history).into_iter().zip(values_along(&two, &history));
            let sums: Vec<f64> = parts.map(|(x, y)| x * 2.0 + y * 0.5).collect();
            assert_eq!(values_along(&both, &history), sums);
        }
    }

    #[test]
    fn trees_that_are_none_are_refused() {
        for edges in [vec![(1, 0)], vec![(0, 9)], vec![(0, 1), (0, 1)]] {
            assert!(policy(edges, vec![0.0; 3], 2, 0.0).is_err());
        }
    }
}
