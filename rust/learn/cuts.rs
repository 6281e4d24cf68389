//! The one enumeration under everything that is learned: an episode is cut between any two of its steps.
//!
//! At the cut j of an episode x₁…x_T (0 ≤ j ≤ T) stand a *left* vector, φ(u) summed over the words u that end
//! there, and a *right* vector, y(x₁…x_t)·φ(v) summed over the words v = x_{j+1}…x_t that begin there. Then
//!
//! * the Hankel block is  Σ left(j) ⊗ right(j),
//! * the block of a symbol σ is  Σ left(j) ⊗ right(j + 1)  over the cuts with x_{j+1} = σ.
//!
//! Summing each side first makes the cost per step independent of the number of (u, v) pairs.

use rustc_hash::FxHashMap;

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

impl Coverage {
    #[inline]
    fn add(&mut self, known: bool) {
        self.known += u64::from(known);
        self.seen += 1;
    }
}

/// The left and right vectors of one episode, one row per cut. Reused from episode to episode.
pub struct Cuts<'a> {
    settings: &'a Settings,
    symbols: Vec<u32>,
    bytes: Vec<u8>,
    values: Vec<Vec<f64>>,
    /// Numbers of listed words.
    found: Vec<u32>,
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
            found: Vec::new(),
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
        self.bytes.resize(4 * self.symbols.len(), 0);
        let (words, _) = self.bytes.as_chunks_mut::<4>();
        words.iter_mut().zip(&self.symbols).for_each(|(bytes, symbol)| *bytes = symbol.to_le_bytes());
        for (target, values) in self.settings.targets.iter().zip(&mut self.values) {
            target.values(&view.rewards[steps.clone()], self.settings.quantum, values);
        }
        self.read_left();
        self.read_right();
    }

    fn read_left(&mut self) {
        let (last, longest) = (self.symbols.len(), self.settings.max_prefix);
        self.left.clear(last + 1);
        let anywhere = self.settings.occurrences == Occurrences::Anywhere;
        // Words that end at a cut begin here, the shortest first.
        let starts = |cut: usize| match anywhere {
            true => cut.saturating_sub(longest)..cut + 1,
            false => 0..usize::from(cut <= longest),
        };
        match &self.settings.prefixes {
            WordMap::Projected(projection) => {
                for cut in 0..=last {
                    for start in starts(cut).rev() {
                        self.left.project(
                            projection,
                            &self.symbols[start..cut],
                            &self.bytes[4 * start..4 * cut],
                            1.0,
                            0,
                        );
                        self.coverage[0].add(true);
                    }
                    self.left.end_row();
                }
            }
            WordMap::Listed(index) => {
                let width = longest.min(last) + 1;
                self.found.resize((if anywhere { last + 1 } else { 1 }) * width, ABSENT);
                for (start, found) in self.found.chunks_exact_mut(width).enumerate() {
                    index.find(&self.symbols[start..], found);
                }
                for cut in 0..=last {
                    for start in starts(cut).rev() {
                        let known = self.left.list(self.found[start * width + cut - start], 1.0, 0);
                        self.coverage[0].add(known);
                    }
                    self.left.end_row();
                }
                self.found.clear();
            }
        }
    }

    fn read_right(&mut self) {
        let (last, dim) = (self.symbols.len(), self.settings.suffixes.dim());
        self.right.clear(last + 1);
        self.found.resize(self.settings.max_suffix.min(last) + 1, ABSENT);
        for cut in 0..=last {
            if let WordMap::Listed(index) = &self.settings.suffixes {
                index.find(&self.symbols[cut..], &mut self.found);
            }
            for length in 0..=self.settings.max_suffix.min(last - cut) {
                for (target, values) in self.values.iter().enumerate() {
                    let (value, place) = (values[cut + length], (target * dim) as u32);
                    if value == 0.0 {
                        continue;
                    }
                    let known = match &self.settings.suffixes {
                        WordMap::Listed(_) => self.right.list(self.found[length], value, place),
                        WordMap::Projected(projection) => {
                            let word = &self.symbols[cut..cut + length];
                            let bytes = &self.bytes[4 * cut..4 * (cut + length)];
                            self.right.project(projection, word, bytes, value, place);
                            true
                        }
                    };
                    self.coverage[1].add(known);
                }
            }
            self.right.end_row();
        }
        self.found.clear();
    }
}

/// Longer lists of remembered vectors would be slower to look up than to compute.
const MOST_SYMBOLS: usize = 4096;

/// Sparse vectors of λ and of single symbols, which half of all words are: computed when first met.
#[derive(Default)]
struct ShortWords(Vec<(u32, f64)>);

impl ShortWords {
    /// The entries of φ; None for words that are not remembered.
    #[inline(always)]
    fn of(&mut self, projection: &Projection, word: &[u32], bytes: &[u8]) -> Option<&[(u32, f64)]> {
        let number = match word {
            [] => 0,
            [symbol] if (*symbol as usize) < MOST_SYMBOLS => *symbol as usize + 1,
            _ => return None,
        };
        let nonzeros = projection.nonzeros();
        let places = number * nonzeros..(number + 1) * nonzeros;
        if self.0.get(places.start).is_none_or(|entry| entry.0 == ABSENT) {
            self.0.resize(self.0.len().max(places.end), (ABSENT, 0.0));
            let key = projection.key(bytes);
            places
                .clone()
                .for_each(|place| self.0[place] = projection.sparse_entry(key, place - places.start));
        }
        self.0.get(places)
    }
}

/// Numbers kept of dense vectors: those of frequent words, since they are met first.
const MOST_NUMBERS: usize = 1 << 20;

/// Dense vectors of words by their key, before scaling. Drawing a Gaussian vector takes twenty times as long as
/// adding it.
#[derive(Default)]
struct Directions {
    places: FxHashMap<u64, usize>,
    numbers: Vec<f64>,
    /// The vector of a word that there was no more room for.
    last: Vec<f64>,
}

impl Directions {
    fn of(&mut self, projection: &Projection, key: u64) -> &[f64] {
        let dim = projection.dim;
        if let Some(&place) = self.places.get(&key) {
            return &self.numbers[place..place + dim];
        }
        let place = self.numbers.len();
        if place + dim > MOST_NUMBERS {
            self.last.resize(dim, 0.0);
            projection.direction(key, &mut self.last);
            return &self.last;
        }
        self.places.insert(key, place);
        self.numbers.resize(place + dim, 0.0);
        projection.direction(key, &mut self.numbers[place..]);
        &self.numbers[place..]
    }
}

/// Vectors, one per cut: lists of non-zero entries, or full rows for dense projections.
#[derive(Default)]
pub struct Rows {
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
    pub dense: Vec<f64>,
    dim: usize,
    row: usize,
    short_words: ShortWords,
    directions: Directions,
}

impl Rows {
    fn sparse() -> Self {
        Rows::default()
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

    /// Adds `weight` · φ of a listed word, at coordinates from `place` on; false if it is not listed.
    #[inline]
    fn list(&mut self, id: u32, weight: f64, place: u32) -> bool {
        if id != ABSENT {
            self.entries.push((place + id, weight));
        }
        id != ABSENT
    }

    /// Adds `weight` · φ of a word, given as symbols and as bytes, at coordinates from `place` on.
    #[inline(always)]
    fn project(&mut self, projection: &Projection, word: &[u32], bytes: &[u8], weight: f64, place: u32) {
        if self.dim > 0 {
            let from = self.row * self.dim + place as usize;
            let sum = &mut self.dense[from..from + projection.dim];
            let direction = self.directions.of(projection, projection.key(bytes));
            let size = projection.size(weight);
            sum.iter_mut().zip(direction).for_each(|(entry, x)| *entry += size * x);
        } else {
            let mut push = |(entry, value)| self.entries.push((place + entry, weight * value));
            match self.short_words.of(projection, word, bytes) {
                Some(known) => known.iter().copied().for_each(push),
                None => {
                    let key = projection.key(bytes);
                    (0..projection.nonzeros()).for_each(|i| push(projection.sparse_entry(key, i)));
                }
            }
        }
    }

    /// Entries of the vector at this cut (sparse kinds).
    #[inline]
    pub fn at(&self, cut: usize) -> &[(u32, f64)] {
        &self.entries[self.ends[cut]..self.ends[cut + 1]]
    }
}
