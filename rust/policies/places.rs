//! Where things of a symbol stand: most of all possible symbols never occur.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

/// "Nothing for this symbol": it never occurred in the data.
pub const UNSEEN: u32 = u32::MAX;

/// Up to so many possible symbols each has an entry; of more the few that occurred are looked up.
const DENSE: usize = 1 << 24;

/// The place of every symbol, or `UNSEEN`.
#[derive(Clone, Debug)]
pub enum Places {
    Dense(Vec<u32>),
    Sparse(FxHashMap<usize, u32>),
}

impl Places {
    /// Symbol `symbols[i]` has place i; `user` is what looks it up.
    pub fn new(symbols: &[i64], n_symbols: usize, user: &str) -> Result<Self> {
        if n_symbols >= i32::MAX as usize {
            let given = format!("{n_symbols} symbols");
            return Err(Error::argument("n_observations", given, format!("too many for {user}")));
        }
        let mut places = if n_symbols <= DENSE {
            Places::Dense(vec![UNSEEN; n_symbols])
        } else {
            Places::Sparse(FxHashMap::default())
        };
        for (place, &given) in symbols.iter().enumerate() {
            let Some(symbol) = usize::try_from(given).ok().filter(|&symbol| symbol < n_symbols) else {
                return Err(Error::argument("symbols", given, format!("outside 0..{n_symbols}")));
            };
            if places.of(symbol) != UNSEEN {
                return Err(Error::argument("symbols", given, "this symbol is listed twice"));
            }
            match &mut places {
                Places::Dense(entries) => entries[symbol] = place as u32,
                Places::Sparse(entries) => drop(entries.insert(symbol, place as u32)),
            }
        }
        Ok(places)
    }

    #[inline]
    pub(crate) fn of(&self, symbol: usize) -> u32 {
        let place = match self {
            Places::Dense(entries) => entries.get(symbol),
            Places::Sparse(entries) => entries.get(&symbol),
        };
        place.copied().unwrap_or(UNSEEN)
    }
}
