//! A policy that looks at the longest known sequence of symbols that a history ends with.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::policies::array::Array;
use crate::policies::{Parted, check_finite, indices};
use crate::simulate::policy::{Described, Policy, Rule};
use crate::trajectories::start_symbol;

/// Longer contexts than this hardly ever come back.
pub const MAX_DEPTH: usize = 16;

/// Values by context: a context is what a history ends with. The symbol after all those of steps and of first
/// observations stands for the start of an episode that shows nothing first. Contexts form a tree: node 0 is the empty
/// context, and a child reaches one symbol farther back than its parent. The longest known context counts.
#[derive(Clone, Debug)]
pub struct ContextPolicy {
    pub(crate) parts: Parts,
    depth: usize,
    children: FxHashMap<(u32, u32), u32>,
    /// Whether any context begins with what an episode showed before its first action.
    opens: bool,
}

#[derive(Clone, Debug)]
pub struct Parts {
    /// Parent of nodes 1, 2, …; parents come before their children.
    pub parents: Vec<i64>,
    /// The symbol by which each of them reaches farther back.
    pub symbols: Vec<i64>,
    /// (nodes, actions)
    pub values: Array<f64, 2>,
    pub(crate) n_observations: usize,
    pub(crate) rule: Rule,
}

impl Parted for ContextPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let Parts { parents, symbols, values, n_observations, rule } = &parts;
        let (nodes, n_actions, n_observations) = (parents.len() + 1, values.shape[1], *n_observations);
        if parents.len() != symbols.len() {
            let given = format!("{} parents and {} symbols", parents.len(), symbols.len());
            return Err(Error::argument("parents", given, "give one of each for every context"));
        }
        if n_actions == 0 || n_observations == 0 || values.shape[0] != nodes {
            let remedy = format!("expected {nodes} rows of {n_actions}, one for every context");
            return Err(Error::argument("values", format!("{} entries", values.len()), remedy));
        }
        check_finite("values", values)?;
        rule.check(n_actions)?;
        let edges = indices("parents", parents)?.into_iter().zip(indices("symbols", symbols)?);
        let mut depths = vec![0; nodes];
        let mut children = FxHashMap::with_capacity_and_hasher(nodes, Default::default());
        for (place, (parent, symbol)) in edges.enumerate() {
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
        let opens = symbols.iter().any(|&symbol| openings.contains(&(symbol as usize)));
        Ok(ContextPolicy { parts, depth, children, opens })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl ContextPolicy {
    /// The policy at temperature 1 on the sum of both values, each in units of its own temperature. It knows the
    /// contexts of both; acting takes no longer however many sums there were. Actions need the support of both.
    pub fn plus(&self, other: &ContextPolicy) -> Result<ContextPolicy> {
        let (sizes, others) =
            [self, other].map(|policy| (policy.n_actions(), policy.n_observations())).into();
        if sizes != others {
            let given = format!("{} actions, {} observations", others.0, others.1);
            return Err(Error::argument("other", given, format!("expected {} and {}", sizes.0, sizes.1)));
        }
        let (mine, theirs) = (&self.parts, &other.parts);
        let (mut parents, mut symbols) = (mine.parents.clone(), mine.symbols.clone());
        let (mut children, mut places) = (self.children.clone(), vec![0]);
        for (&parent, &symbol) in theirs.parents.iter().zip(&theirs.symbols) {
            let above: u32 = places[parent as usize];
            places.push(*children.entry((above, symbol as u32)).or_insert_with(|| {
                parents.push(i64::from(above));
                symbols.push(symbol);
                parents.len() as u32
            }));
        }
        let mut other_nodes = vec![None; parents.len() + 1];
        places.iter().enumerate().for_each(|(own, &node)| other_nodes[node as usize] = Some(own));
        let scales =
            [mine, theirs].map(|parts| parts.rule.temperature).map(|t| if t > 0.0 { 1.0 / t } else { 1.0 });
        // The longest context of each policy that every context of the sum ends with.
        let mut known = vec![(0, 0)];
        let mut values = Vec::with_capacity((parents.len() + 1) * sizes.0);
        for node in 0..=parents.len() {
            if node > 0 {
                let above = known[parents[node - 1] as usize];
                let own = if node <= mine.parents.len() { node } else { above.0 };
                known.push((own, other_nodes[node].unwrap_or(above.1)));
            }
            let rows = mine.values.row(known[node].0).iter().zip(theirs.values.row(known[node].1));
            values.extend(rows.map(|(x, y)| x * scales[0] + y * scales[1]));
        }
        let supported = match (&mine.rule.supported, &theirs.rule.supported) {
            (Some(one), Some(two)) => Some(one.iter().zip(two).map(|(&x, &y)| x && y).collect()),
            (one, two) => one.as_ref().or(two.as_ref()).cloned(),
        };
        let values = Array::rows(values, sizes.0);
        let rule = Rule { temperature: 1.0, supported, after: None };
        Self::new(Parts { parents, symbols, values, n_observations: sizes.1, rule })
    }
}

/// The last symbols, the newest last.
#[derive(Clone, Debug)]
pub struct Memory(Vec<u32>);

impl Described for ContextPolicy {
    sizes_and_rule!(self: self.parts.values.shape[1], self.parts.n_observations);

    fn describe(&self) -> String {
        format!("{} contexts of up to {} symbols", self.parts.values.shape[0], self.depth)
    }
}

impl Policy for ContextPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        let mut recent = Vec::with_capacity(self.depth + 1);
        recent.push(start_symbol(self.n_actions(), self.n_observations()) as u32);
        Memory(recent)
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let mut node = 0;
        for &symbol in memory.0.iter().rev() {
            match self.children.get(&(node, symbol)) {
                Some(&child) => node = child,
                None => break,
            }
        }
        values.copy_from_slice(self.parts.values.row(node as usize));
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        if action == self.n_actions() {
            if !self.opens {
                return;
            }
            memory.0.clear();
        } else if memory.0.len() >= self.depth.max(1) {
            memory.0.remove(0);
        }
        memory.0.push((action * self.n_observations() + observation) as u32);
    }
}
