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
use crate::learn::spectral::double::Quantum;
use crate::learn::spectral::projection::{Kind, Projection};
use crate::learn::spectral::rows::Rows;
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{ABSENT, Occurrences, Word, WordIndex};
use crate::trajectories::View;

/// How a word becomes a vector.
#[derive(Clone, Debug)]
pub enum WordMap {
    /// One coordinate per listed word; other words are left out.
    Listed(WordIndex),
    /// A random vector for every word.
    Projected(Projection),
}

impl WordMap {
    pub(crate) fn dim(&self) -> usize {
        match self {
            WordMap::Listed(index) => index.len(),
            WordMap::Projected(projection) => projection.dim,
        }
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self, WordMap::Projected(projection) if projection.is_dense())
    }
}

/// What is counted at every cut.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) occurrences: Occurrences,
    pub(crate) max_prefix: usize,
    pub(crate) max_suffix: usize,
    pub(crate) target: Target,
    pub(crate) prefixes: WordMap,
    pub(crate) suffixes: WordMap,
    /// Shared by all shards, so that their sums agree.
    pub quantum: Quantum,
}

impl Settings {
    /// Exact blocks over lists of words.
    pub fn listed(
        occurrences: Occurrences,
        target: Target,
        quantum: Quantum,
        prefixes: Vec<Word>,
        suffixes: Vec<Word>,
    ) -> Result<Self> {
        let prefixes = WordIndex::new("prefixes", prefixes)?;
        let suffixes = WordIndex::new("suffixes", suffixes)?;
        Ok(Settings {
            occurrences,
            max_prefix: prefixes.longest(),
            max_suffix: suffixes.longest(),
            target,
            prefixes: WordMap::Listed(prefixes),
            suffixes: WordMap::Listed(suffixes),
            quantum,
        })
    }

    /// Compressed blocks of (`prefix_dim`, `suffix_dim`) over all words of up to so many symbols.
    pub fn projected(
        occurrences: Occurrences,
        target: Target,
        quantum: Quantum,
        (max_prefix, max_suffix): (usize, usize),
        (kind, prefix_dim, suffix_dim, seed): (&str, usize, usize, u64),
    ) -> Result<Self> {
        let kind = Kind::named(kind)?;
        // Prefixes and suffixes need independent vectors, hence two seeds.
        let even = seed.checked_mul(2);
        let even = even.ok_or_else(|| Error::argument("seed", seed, "give an integer below 2**63"))?;
        Ok(Settings {
            occurrences,
            max_prefix,
            max_suffix,
            target,
            prefixes: WordMap::Projected(Projection::new("prefix_dim", kind, prefix_dim, even)?),
            suffixes: WordMap::Projected(Projection::new("suffix_dim", kind, suffix_dim, even + 1)?),
            quantum,
        })
    }

    /// (length of a left vector, length of a right vector)
    pub fn shape(&self) -> (usize, usize) {
        (self.prefixes.dim(), self.suffixes.dim())
    }
}

/// Share of the words at the cuts that the basis knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    pub(crate) known: u64,
    pub(crate) seen: u64,
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
    /// y of every prefix of the episode read last.
    pub values: Vec<f64>,
    /// Numbers of listed words.
    found: Vec<u32>,
    pub(crate) left: Rows,
    pub(crate) right: Rows,
    pub(crate) coverage: [Coverage; 2],
}

impl<'a> Cuts<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        let rows = |map: &WordMap| Rows::of(if map.is_dense() { map.dim() } else { 0 });
        Cuts {
            settings,
            symbols: Vec::new(),
            bytes: Vec::new(),
            values: Vec::new(),
            found: Vec::new(),
            left: rows(&settings.prefixes),
            right: rows(&settings.suffixes),
            coverage: Default::default(),
        }
    }

    /// Symbols of the episode read last.
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    pub(crate) fn read(&mut self, view: &View, episode: usize) {
        let steps = view.episode(episode);
        self.symbols.clear();
        self.symbols.extend(steps.clone().map(|step| view.symbol(step) as u32));
        self.bytes.resize(4 * self.symbols.len(), 0);
        let (words, _) = self.bytes.as_chunks_mut::<4>();
        words.iter_mut().zip(&self.symbols).for_each(|(bytes, symbol)| *bytes = symbol.to_le_bytes());
        self.settings.target.values(&view.rewards[steps], self.settings.quantum, &mut self.values);
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
                        let known = self.left.list(self.found[start * width + cut - start], 1.0);
                        self.coverage[0].add(known);
                    }
                    self.left.end_row();
                }
                self.found.clear();
            }
        }
    }

    fn read_right(&mut self) {
        let last = self.symbols.len();
        self.right.clear(last + 1);
        self.found.resize(self.settings.max_suffix.min(last) + 1, ABSENT);
        for cut in 0..=last {
            if let WordMap::Listed(index) = &self.settings.suffixes {
                index.find(&self.symbols[cut..], &mut self.found);
            }
            for length in 0..=self.settings.max_suffix.min(last - cut) {
                let value = self.values[cut + length];
                if value == 0.0 {
                    continue;
                }
                let known = match &self.settings.suffixes {
                    WordMap::Listed(_) => self.right.list(self.found[length], value),
                    WordMap::Projected(projection) => {
                        let word = &self.symbols[cut..cut + length];
                        let bytes = &self.bytes[4 * cut..4 * (cut + length)];
                        self.right.project(projection, word, bytes, value);
                        true
                    }
                };
                self.coverage[1].add(known);
            }
            self.right.end_row();
        }
        self.found.clear();
    }
}
