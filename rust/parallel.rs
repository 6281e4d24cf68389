//! Work cut into fixed blocks: results come back in block order, whatever the number of threads.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Shared between a long computation and whoever waits for it: how far it is, and the wish to stop.
#[derive(Default)]
pub struct Ticker {
    done: AtomicU64,
    cancelled: AtomicBool,
}

impl Ticker {
    pub fn advance(&self, amount: usize) {
        self.done.fetch_add(amount as u64, Ordering::Relaxed);
    }

    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// More would even out threads of unequal luck, fewer would save memory.
const BLOCKS_HELD_PER_THREAD: usize = 2;

/// `work` applied to the blocks `0..block`, `block..2*block`, … of `0..items`, results in that order.
///
/// The cut depends on `items` and `block` alone, so sums taken over the returned list have the same
/// bits for one thread and for many.
pub fn map_blocks<T: Send>(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let run = |index: usize| {
        ticker.check()?;
        let range = index * block..items.min((index + 1) * block);
        let length = range.len();
        let result = work(range)?;
        ticker.advance(length);
        Ok(result)
    };
    let blocks = items.div_ceil(block);
    if threads <= 1 || blocks <= 1 {
        return (0..blocks).map(run).collect();
    }
    pool(threads)?.install(|| (0..blocks).into_par_iter().map(run).collect())
}

/// Like `map_blocks`, but the results are folded into one as they come, in block order; only a few blocks are
/// held at a time. None if there are no items.
pub fn fold_blocks<T: Send>(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
    mut fold: impl FnMut(&mut T, T) -> Result<()>,
) -> Result<Option<T>> {
    let wave = block * threads.max(1) * BLOCKS_HELD_PER_THREAD;
    let mut total = None;
    for first in (0..items).step_by(wave.max(1)) {
        let count = wave.min(items - first);
        let results =
            map_blocks(threads, count, block, ticker, |range| work(range.start + first..range.end + first))?;
        for result in results {
            match &mut total {
                None => total = Some(result),
                Some(total) => fold(total, result)?,
            }
        }
    }
    Ok(total)
}

/// `work` done once for every item; the items must not depend on each other.
pub fn for_each<T: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) + Send + Sync) -> Result<()> {
    if threads <= 1 || items.len() <= 1 {
        items.into_iter().for_each(work);
    } else {
        pool(threads)?.install(|| items.into_par_iter().for_each(work));
    }
    Ok(())
}

/// By process and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// Pools are kept, since starting threads costs more than many of our calls. A process that was forked off has
/// the memory of its parent's pools but not their threads, and makes its own.
fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    static POOLS: OnceLock<Mutex<Pools>> = OnceLock::new();
    let key = (std::process::id(), threads);
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(|poison| poison.into_inner());
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|problem| Error::argument("threads", threads, problem.to_string()))?;
    Ok(pools.entry(key).or_insert(Arc::new(pool)).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_in_order() {
        for threads in [1, 2, 5] {
            let blocks = map_blocks(threads, 10, 3, &Ticker::default(), Ok).unwrap();
            assert_eq!(blocks, vec![0..3, 3..6, 6..9, 9..10]);
        }
    }

    #[test]
    fn cancelled_work_stops() {
        let ticker = Ticker::default();
        ticker.cancel();
        assert_eq!(map_blocks(2, 10, 1, &ticker, Ok), Err(Error::Interrupted));
    }
}
