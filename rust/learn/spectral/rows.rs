//! Vectors, one per cut of an episode: sums of φ(word), sparse or dense.

use rustc_hash::FxHashMap;

use crate::learn::spectral::projection::Projection;
use crate::learn::spectral::words::ABSENT;

/// Longer lists of remembered vectors would be slower to look up than to compute.
const MAX_SYMBOLS: usize = 4096;

/// Sparse vectors of λ and of single symbols, which half of all words are: computed when first met.
#[derive(Default)]
struct ShortWords(Vec<(u32, f64)>);

impl ShortWords {
    /// The entries of φ; None for words that are not remembered.
    #[inline(always)]
    fn of(&mut self, projection: &Projection, word: &[u32], bytes: &[u8]) -> Option<&[(u32, f64)]> {
        let number = match word {
            [] => 0,
            [symbol] if (*symbol as usize) < MAX_SYMBOLS => *symbol as usize + 1,
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
const MAX_NUMBERS: usize = 1 << 20;

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
        if place + dim > MAX_NUMBERS {
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
    /// Full rows of `dim` entries; lists of entries for 0.
    pub fn of(dim: usize) -> Self {
        Rows { dim, ..Rows::default() }
    }

    pub fn clear(&mut self, rows: usize) {
        self.entries.clear();
        self.ends.clear();
        self.ends.push(0);
        self.dense.clear();
        self.dense.resize(rows * self.dim, 0.0);
        self.row = 0;
    }

    pub fn end_row(&mut self) {
        self.row += 1;
        self.ends.push(self.entries.len());
    }

    /// Adds `weight` · φ of a listed word; false if it is not listed.
    #[inline]
    pub fn list(&mut self, id: u32, weight: f64) -> bool {
        if id != ABSENT {
            self.entries.push((id, weight));
        }
        id != ABSENT
    }

    /// Adds `weight` · φ of a word, given as symbols and as bytes.
    #[inline(always)]
    pub fn project(&mut self, projection: &Projection, word: &[u32], bytes: &[u8], weight: f64) {
        if self.dim > 0 {
            let from = self.row * self.dim;
            let sum = &mut self.dense[from..from + projection.dim];
            let direction = self.directions.of(projection, projection.key(bytes));
            let size = projection.size(weight);
            sum.iter_mut().zip(direction).for_each(|(entry, x)| *entry += size * x);
        } else {
            let mut push = |(entry, value)| self.entries.push((entry, weight * value));
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
