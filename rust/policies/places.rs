//! Where things of a symbol stand: most of all possible symbols never occur.

use crate::error::{Error, Result};

/// "Nothing for this symbol": it never occurred in the data.
pub const UNSEEN: u32 = u32::MAX;

/// The place of every symbol, or `UNSEEN`.
#[derive(Clone, Debug)]
pub struct Places(Vec<u32>);

impl Places {
    /// Symbol `symbols[i]` has place i; `user` is what looks it up.
    pub fn new(symbols: &[i64], n_symbols: usize, user: &str) -> Result<Self> {
        if n_symbols >= i32::MAX as usize {
            let given = format!("{n_symbols} symbols");
            return Err(Error::argument("n_observations", given, format!("too many for {user}")));
        }
        let mut places = vec![UNSEEN; n_symbols];
        for (place, &symbol) in symbols.iter().enumerate() {
            match usize::try_from(symbol).ok().and_then(|symbol| places.get_mut(symbol)) {
                Some(entry) if *entry == UNSEEN => *entry = place as u32,
                Some(_) => return Err(Error::argument("symbols", symbol, "this symbol is listed twice")),
                None => return Err(Error::argument("symbols", symbol, format!("outside 0..{n_symbols}"))),
            }
        }
        Ok(Places(places))
    }

    #[inline]
    pub(crate) fn of(&self, symbol: usize) -> u32 {
        self.0.get(symbol).copied().unwrap_or(UNSEEN)
    }
}
