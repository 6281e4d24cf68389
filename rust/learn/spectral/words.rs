//! Words of symbols: counting the ones that occur, choosing a basis, finding them again.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::trajectories::View;

pub(crate) type Word = Vec<u32>;

/// Where words may begin: at the first step of an episode only, or at every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurrences {
    /// At the first step of an episode.
    Start,
    /// At every step.
    Anywhere,
}

impl Occurrences {
    /// By the name that users give.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "start" => Ok(Occurrences::Start),
            "anywhere" => Ok(Occurrences::Anywhere),
            _ => Err(Error::argument("occurrences", name, "choose start or anywhere")),
        }
    }
}

/// "Not in the basis".
pub const ABSENT: u32 = u32::MAX;

/// A tree of words: every node is a word, its children one symbol longer. Node 0 is the empty word λ.
#[derive(Clone, Debug)]
pub struct Trie {
    children: FxHashMap<(u32, u32), u32>,
    parents: Vec<(u32, u32)>,
}

impl Default for Trie {
    fn default() -> Self {
        Trie { children: FxHashMap::default(), parents: vec![(ABSENT, 0)] }
    }
}

impl Trie {
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    fn child(&self, node: u32, symbol: u32) -> Option<u32> {
        self.children.get(&(node, symbol)).copied()
    }

    fn grow(&mut self, node: u32, symbol: u32) -> u32 {
        let fresh = self.parents.len() as u32;
        let child = *self.children.entry((node, symbol)).or_insert(fresh);
        if child == fresh {
            self.parents.push((node, symbol));
        }
        child
    }

    fn word(&self, node: u32) -> Word {
        let mut word = Vec::new();
        let mut at = node;
        while at != 0 {
            let (parent, symbol) = self.parents[at as usize];
            word.push(symbol);
            at = parent;
        }
        word.reverse();
        word
    }
}

/// How often every word of up to `max_length` symbols occurs. λ occurs once per place where a word may begin.
/// The cost is linear in steps × `max_length`.
pub fn count_words(view: &View, occurrences: Occurrences, max_length: usize) -> (Trie, Vec<u64>) {
    let (mut trie, mut counts) = (Trie::default(), vec![0]);
    for episode in 0..view.n_episodes() {
        let steps = view.episode(episode);
        let last_start = match occurrences {
            Occurrences::Start => steps.start,
            Occurrences::Anywhere => steps.end,
        };
        for start in steps.start..=last_start {
            counts[0] += 1;
            let mut node = 0;
            for step in start..steps.end.min(start + max_length) {
                node = trie.grow(node, view.symbol(step) as u32);
                counts.resize(trie.len(), 0);
                counts[node as usize] += 1;
            }
        }
    }
    (trie, counts)
}

/// The `limit` most frequent words with their counts, λ first. Ties go to the shorter, then to the
/// lexicographically smaller word; since a word is never more frequent than its beginning, the chosen set
/// contains every beginning of its words (it is prefix-closed).
pub fn most_frequent(
    view: &View,
    occurrences: Occurrences,
    max_length: usize,
    limit: Option<usize>,
) -> Vec<(Word, u64)> {
    let (trie, counts) = count_words(view, occurrences, max_length);
    let mut ranked: Vec<(Word, u64)> =
        (0..trie.len() as u32).map(|node| (trie.word(node), counts[node as usize])).collect();
    ranked.sort_unstable_by(|(a, count_a), (b, count_b)| {
        count_b.cmp(count_a).then(a.len().cmp(&b.len())).then_with(|| a.cmp(b))
    });
    ranked.truncate(limit.unwrap_or(usize::MAX));
    ranked
}

/// Finds the number of a word in a given list.
#[derive(Clone, Debug)]
pub struct WordIndex {
    trie: Trie,
    /// Position in the list by node, `ABSENT` for mere beginnings of listed words.
    ids: Vec<u32>,
    count: usize,
    longest: usize,
}

impl WordIndex {
    pub(crate) fn new(name: &'static str, words: Vec<Word>) -> Result<Self> {
        if words.is_empty() {
            return Err(Error::argument(name, "[]", "the basis is empty; give at least the empty word"));
        }
        let mut trie = Trie::default();
        let mut ids = vec![ABSENT];
        for (id, word) in words.iter().enumerate() {
            let node = word.iter().fold(0, |node, &symbol| trie.grow(node, symbol));
            ids.resize(trie.len(), ABSENT);
            if ids[node as usize] != ABSENT {
                return Err(Error::argument(name, format!("{word:?}"), "this word is listed twice"));
            }
            ids[node as usize] = id as u32;
        }
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        Ok(WordIndex { trie, ids, count: words.len(), longest })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Writes the numbers of the words of length 0, 1, 2, … that begin `symbols` into `found`.
    pub fn find(&self, symbols: &[u32], found: &mut [u32]) {
        found.fill(ABSENT);
        let mut node = 0;
        found[0] = self.ids[0];
        for (place, &symbol) in found[1..].iter_mut().zip(symbols) {
            match self.trie.child(node, symbol) {
                Some(child) => node = child,
                None => return,
            }
            *place = self.ids[node as usize];
        }
    }
}
