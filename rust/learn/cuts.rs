//! The one enumeration under everything that is learned: an episode is cut between any two of its steps.
//!
//! At the cut j of an episode x₁…x_T (0 ≤ j ≤ T) stand a *left* vector, φ(u) summed over the words u that end
//! there, and a *right* vector, y(x₁…x_t)·φ(v) summed over the words v = x_{j+1}…x_t that begin there. Then
//!
//! * the Hankel block is  Σ left(j) ⊗ right(j),
//! * the block of a symbol σ is  Σ left(j) ⊗ right(j + 1)  over the cuts with x_{j+1} = σ.
//!
//! Summing each side first makes the cost per step independent of the number of (u, v) pairs.

use crate::error::{Error, Result};
use crate::learn::double::Quantum;
use crate::learn::projection::Projection;
use crate::learn::target::Target;
use crate::learn::words::{ABSENT, Occurrences, WordIndex};
use crate::trajectories::View;

/// How a word becomes a vector.
#[derive(Clone, Debug)]
pub enum WordMap {
    /// One coordinate per listed word; other words are left out.
    Listed(WordIndex),
    Projected(Projection),
}

impl WordMap {
    pub fn dim(&self) -> usize {
        match self {
            WordMap::Listed(index) => index.words().len(),
            WordMap::Projected(projection) => projection.dim,
        }
    }

    pub fn is_dense(&self) -> bool {
        matches!(self, WordMap::Projected(projection) if projection.is_dense())
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub occurrences: Occurrences,
    pub max_prefix: usize,
    pub max_suffix: usize,
    /// Functions learned side by side on one state; the right vectors have one part for each.
    pub targets: Vec<Target>,
    pub prefixes: WordMap,
    pub suffixes: WordMap,
    /// Shared by all shards, so that their sums agree.
    pub quantum: Quantum,
}

impl Settings {
    /// Length of a left vector.
    pub fn left_dim(&self) -> usize {
        self.prefixes.dim()
    }

    /// Length of a right vector.
    pub fn right_dim(&self) -> usize {
        self.suffixes.dim() * self.targets.len()
    }

    pub fn validate(&self) -> Result<()> {
        if self.targets.is_empty() {
            return Err(Error::argument("targets", "[]", "learn at least one function"));
        }
        if self.prefixes.is_dense() != self.suffixes.is_dense() {
            return Err(Error::argument("projection", "mixed", "use one kind for prefixes and suffixes"));
        }
        Ok(())
    }
}

/// Share of the words at the cuts that the basis knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    pub known: u64,
    pub seen: u64,
}

/// The left and right vectors of one episode, one row per cut. Reused from episode to episode.
pub struct Cuts<'a> {
    settings: &'a Settings,
    symbols: Vec<u32>,
    bytes: Vec<u8>,
    values: Vec<Vec<f64>>,
    pub left: Rows,
    pub right: Rows,
    pub coverage: [Coverage; 2],
}

impl<'a> Cuts<'a> {
    pub fn new(settings: &'a Settings) -> Self {
        let rows = |map: &WordMap, dim| if map.is_dense() { Rows::dense(dim) } else { Rows::sparse() };
        Cuts {
            settings,
            symbols: Vec::new(),
            bytes: Vec::new(),
            values: vec![Vec::new(); settings.targets.len()],
            left: rows(&settings.prefixes, settings.left_dim()),
            right: rows(&settings.suffixes, settings.right_dim()),
            coverage: Default::default(),
        }
    }

    /// Symbols of the episode read last.
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    /// y of every prefix of the episode read last, for one of the targets.
    pub fn values(&self, target: usize) -> &[f64] {
        &self.values[target]
    }

    pub fn read(&mut self, view: &View, episode: usize) {
        let steps = view.episode(episode);
        self.symbols.clear();
        self.symbols.extend(steps.clone().map(|step| view.symbol(step) as u32));
        self.bytes.clear();
        self.symbols.iter().for_each(|symbol| self.bytes.extend_from_slice(&symbol.to_le_bytes()));
        for (target, values) in self.settings.targets.iter().zip(&mut self.values) {
            target.values(&view.rewards[steps.clone()], self.settings.quantum, values);
        }
        self.read_left();
        self.read_right();
    }

    fn read_left(&mut self) {
        let last = self.symbols.len();
        let words = Words::new(&self.settings.prefixes, &self.symbols, &self.bytes);
        self.left.clear(last + 1);
        match self.settings.occurrences {
            Occurrences::Start => {
                let mut found = vec![ABSENT; self.settings.max_prefix.min(last) + 1];
                words.find(0, &mut found);
                for cut in 0..=last {
                    if let Some(&id) = found.get(cut) {
                        words.add(0, cut, id, 1.0, 0, &mut self.left, &mut self.coverage[0]);
                    }
                    self.left.end_row();
                }
            }
            Occurrences::Anywhere => {
                let width = self.settings.max_prefix.min(last) + 1;
                let mut found = vec![ABSENT; (last + 1) * width];
                for (start, row) in found.chunks_exact_mut(width).enumerate() {
                    words.find(start, row);
                }
                for cut in 0..=last {
                    for length in 0..=self.settings.max_prefix.min(cut) {
                        let start = cut - length;
                        let id = found[start * width + length];
                        words.add(start, length, id, 1.0, 0, &mut self.left, &mut self.coverage[0]);
                    }
                    self.left.end_row();
                }
            }
        }
    }

    fn read_right(&mut self) {
        let last = self.symbols.len();
        let words = Words::new(&self.settings.suffixes, &self.symbols, &self.bytes);
        self.right.clear(last + 1);
        let dim = self.settings.suffixes.dim();
        let mut found = vec![ABSENT; self.settings.max_suffix.min(last) + 1];
        for cut in 0..=last {
            words.find(cut, &mut found);
            for length in 0..=self.settings.max_suffix.min(last - cut) {
                for (target, values) in self.values.iter().enumerate() {
                    let value = values[cut + length];
                    if value != 0.0 {
                        let place = (target * dim) as u32;
                        words.add(
                            cut,
                            length,
                            found[length],
                            value,
                            place,
                            &mut self.right,
                            &mut self.coverage[1],
                        );
                    }
                }
            }
            self.right.end_row();
        }
    }
}

/// The words of one episode, as one of the maps sees them.
struct Words<'a> {
    map: &'a WordMap,
    symbols: &'a [u32],
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    fn new(map: &'a WordMap, symbols: &'a [u32], bytes: &'a [u8]) -> Self {
        Words { map, symbols, bytes }
    }

    /// Numbers of the listed words that begin at `start`; nothing to find for projections.
    fn find(&self, start: usize, found: &mut [u32]) {
        if let WordMap::Listed(index) = self.map {
            index.find(&self.symbols[start..], found);
        }
    }

    /// Adds `weight` · φ of a word to the row under construction, at coordinates from `place` on.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn add(
        &self,
        start: usize,
        length: usize,
        id: u32,
        weight: f64,
        place: u32,
        rows: &mut Rows,
        coverage: &mut Coverage,
    ) {
        coverage.seen += 1;
        match self.map {
            WordMap::Listed(_) if id == ABSENT => return,
            WordMap::Listed(_) => rows.push(place + id, weight),
            WordMap::Projected(projection) => {
                let key = projection.key(&self.bytes[4 * start..4 * (start + length)]);
                rows.project(projection, key, weight, place);
            }
        }
        coverage.known += 1;
    }
}

/// Vectors, one per cut: lists of non-zero entries, or full rows for dense projections.
pub struct Rows {
    pub entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
    pub dense: Vec<f64>,
    dim: usize,
    row: usize,
}

impl Rows {
    fn sparse() -> Self {
        Rows { entries: Vec::new(), ends: Vec::new(), dense: Vec::new(), dim: 0, row: 0 }
    }

    fn dense(dim: usize) -> Self {
        Rows { dim, ..Rows::sparse() }
    }

    fn clear(&mut self, rows: usize) {
        self.entries.clear();
        self.ends.clear();
        self.ends.push(0);
        self.dense.clear();
        self.dense.resize(rows * self.dim, 0.0);
        self.row = 0;
    }

    fn end_row(&mut self) {
        self.row += 1;
        self.ends.push(self.entries.len());
    }

    #[inline]
    fn push(&mut self, place: u32, value: f64) {
        self.entries.push((place, value));
    }

    #[inline]
    fn project(&mut self, projection: &Projection, key: u64, weight: f64, place: u32) {
        if self.dim > 0 {
            let from = self.row * self.dim + place as usize;
            projection.add_to(key, weight, &mut self.dense[from..from + projection.dim]);
            return;
        }
        for i in 0..projection.nonzeros() {
            let (entry, value) = projection.sparse_entry(key, i);
            self.entries.push((place + entry, weight * value));
        }
    }

    /// Entries of the vector at this cut (sparse kinds).
    #[inline]
    pub fn at(&self, cut: usize) -> &[(u32, f64)] {
        &self.entries[self.ends[cut]..self.ends[cut + 1]]
    }
}
