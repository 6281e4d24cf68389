//! Weighted automata: states as row vectors, one operator per seen symbol.

use crate::error::{Error, Result};

/// "No operator for this symbol": it never occurred in the data.
pub const UNSEEN: u32 = u32::MAX;

/// Operators of the seen symbols, and the way from a symbol to its operator.
#[derive(Clone, Debug)]
pub struct Automaton {
    rank: usize,
    /// Place of every symbol's operator, or `UNSEEN`.
    places: Vec<u32>,
    /// (seen symbols, rank, rank), row-major.
    operators: Vec<f64>,
}

impl Automaton {
    pub fn new(rank: usize, n_symbols: usize, symbols: &[i64], operators: Vec<f64>) -> Result<Self> {
        if rank == 0 || operators.len() != symbols.len() * rank * rank {
            let remedy = format!("expected {} operators of {rank} × {rank}, rank at least 1", symbols.len());
            return Err(Error::argument("operators", format!("{} entries", operators.len()), remedy));
        }
        if let Some(index) = operators.iter().position(|x| !x.is_finite()) {
            let place = format!("entry of symbol {} is {}", symbols[index / (rank * rank)], operators[index]);
            return Err(Error::argument("operators", place, "weights must be finite"));
        }
        let mut places = vec![UNSEEN; n_symbols];
        for (place, &symbol) in symbols.iter().enumerate() {
            let entry = usize::try_from(symbol).ok().and_then(|symbol| places.get_mut(symbol));
            match entry {
                Some(entry) if *entry == UNSEEN => *entry = place as u32,
                Some(_) => return Err(Error::argument("symbols", symbol, "this symbol is listed twice")),
                None => return Err(Error::argument("symbols", symbol, format!("outside 0..{n_symbols}"))),
            }
        }
        Ok(Automaton { rank, places, operators })
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn n_symbols(&self) -> usize {
        self.places.len()
    }

    /// Number of symbols that have an operator.
    pub fn n_seen(&self) -> usize {
        self.operators.len() / (self.rank * self.rank)
    }

    /// The seen symbols, in the order of their operators.
    pub fn symbols(&self) -> Vec<i64> {
        let seen = self.places.iter().filter(|&&place| place != UNSEEN).count();
        let mut symbols = vec![0; seen];
        for (symbol, &place) in self.places.iter().enumerate().filter(|(_, place)| **place != UNSEEN) {
            symbols[place as usize] = symbol as i64;
        }
        symbols
    }

    /// (seen symbols, rank, rank), row-major.
    pub fn operators(&self) -> &[f64] {
        &self.operators
    }

    /// Place of a symbol's operator; `UNSEEN` for symbols without one.
    #[inline]
    pub fn place(&self, symbol: usize) -> u32 {
        self.places.get(symbol).copied().unwrap_or(UNSEEN)
    }

    /// next = state · A_σ for the operator at `place`.
    #[inline]
    pub fn step(&self, state: &[f64], place: u32, next: &mut [f64]) {
        let size = self.rank * self.rank;
        let operator = &self.operators[place as usize * size..(place as usize + 1) * size];
        next.fill(0.0);
        for (&weight, row) in state.iter().zip(operator.chunks_exact(self.rank)) {
            next.iter_mut().zip(row).for_each(|(entry, x)| *entry += weight * x);
        }
    }

    /// αᵀ A_{x₁} … A_{x_n} ω; a word with an unseen symbol has value 0, as the zero operator gives it.
    pub fn value(&self, alpha: &[f64], omega: &[f64], word: &[i64]) -> f64 {
        let mut state = alpha.to_vec();
        let mut next = vec![0.0; self.rank];
        for &symbol in word {
            let place = usize::try_from(symbol).map_or(UNSEEN, |symbol| self.place(symbol));
            if place == UNSEEN {
                return 0.0;
            }
            self.step(&state, place, &mut next);
            std::mem::swap(&mut state, &mut next);
        }
        dot(&state, omega)
    }
}

#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
