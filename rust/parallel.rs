//! Work cut into fixed blocks: results come back in block order, whatever the number of threads.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Shared between a long computation and whoever waits for it: how far it is, and the wish to stop.
#[derive(Default)]
pub struct Ticker {
    done: AtomicU64,
    cancelled: AtomicBool,
}

impl Ticker {
    pub(crate) fn advance(&self, amount: usize) {
        self.done.fetch_add(amount as u64, Ordering::Relaxed);
    }

    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Asks the computation to stop at its next look.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// More would even out threads with unequal work, fewer would save memory.
const BLOCKS_HELD_PER_THREAD: usize = 4;

/// Calls `work` on so many threads at once, and waits for all of them.
///
/// Behind a pointer, as in `each`: a generic function would have all of the pool's machinery compiled anew for every
/// caller, which was half of the whole crate.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) -> Result<()> {
    if threads <= 1 {
        work();
    } else {
        pool(threads)?.in_place_scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work())));
    }
    Ok(())
}

/// Calls `run` once for every index below `count`, in order of their numbers, until one fails. All before the first one
/// that fails are run, so its error is the same for any number of threads.
fn each(threads: usize, count: usize, run: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None::<(usize, Error)>);
    on_threads(threads.min(count), &|| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(error) = run(index) {
                next.fetch_max(count, Ordering::Relaxed);
                let mut first = lock(&failed);
                if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    *first = Some((index, error));
                }
            }
        }
    })?;
    into_inner(failed).map_or(Ok(()), |(_, error)| Err(error))
}

/// Panics travel through `on_threads`: what they leave behind is never looked at.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` for the blocks `0..block`, `block..2*block`, … of `0..items`, unless someone wishes to stop; a block is
/// counted when it is done.
fn each_block(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    work: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    each(threads, items.div_ceil(block), &|index| {
        ticker.check()?;
        let range = index * block..items.min((index + 1) * block);
        let length = range.len();
        work(range)?;
        ticker.advance(length);
        Ok(())
    })
}

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
    collected(threads, items, block, ticker, &work)
}

/// `map_blocks`, compiled once for every kind of result.
fn collected<T: Send>(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    work: &(dyn Fn(Range<usize>) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let mut results = Vec::new();
    results.resize_with(items.div_ceil(block), || Mutex::new(None));
    each_block(threads, items, block, ticker, &|range| {
        let place = range.start / block;
        let result = work(range)?;
        *lock(&results[place]) = Some(result);
        Ok(())
    })?;
    Ok(results.into_iter().map(|result| into_inner(result).expect("every block was run")).collect())
}

/// Like `map_blocks`, but the results are folded into one as they come, in block order; only some blocks are
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

/// Like `fold_blocks`, but every thread adds the blocks that it happens to take to a sum of its own. Only for sums
/// that are exact, whatever their order; their size costs nothing but the memory of one for each thread.
pub fn fold_exactly<T: Send>(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    zero: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, Range<usize>) -> Result<()> + Sync,
    mut merge: impl FnMut(&mut T, T) -> Result<()>,
) -> Result<T> {
    // A thread keeps its sum here between two blocks.
    let sums = Mutex::new(Vec::new());
    each_block(threads, items, block, ticker, &|range| {
        let kept = lock(&sums).pop();
        let mut sum = kept.unwrap_or_else(&zero);
        add(&mut sum, range)?;
        lock(&sums).push(sum);
        Ok(())
    })?;
    let mut sums = into_inner(sums).into_iter();
    let mut total = sums.next().unwrap_or_else(&zero);
    sums.try_for_each(|sum| merge(&mut total, sum))?;
    Ok(total)
}

/// Like `map_blocks`, but `work` also fills its part of `out`: what item i writes begins at `place(i)`.
pub fn fill_blocks<T: Send, R: Send>(
    threads: usize,
    items: usize,
    block: usize,
    ticker: &Ticker,
    mut out: &mut [T],
    place: impl Fn(usize) -> usize,
    work: impl Fn(Range<usize>, &mut [T]) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let mut parts = Vec::with_capacity(items.div_ceil(block));
    for first in (0..items).step_by(block) {
        let last = items.min(first + block);
        let (part, rest) = out.split_at_mut(place(last) - place(first));
        parts.push(Mutex::new(part));
        out = rest;
    }
    map_blocks(threads, items, block, ticker, |range| {
        let place = range.start / block;
        work(range, &mut lock(&parts[place]))
    })
}

/// `work` done once for every item; the items must not depend on each other.
pub fn for_each<T: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) + Send + Sync) -> Result<()> {
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    each(threads, items.len(), &|index| {
        if let Some(item) = lock(&items[index]).take() {
            work(item);
        }
        Ok(())
    })
}

type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// Pools are kept, since starting threads costs more than many of our calls. A process that was forked off has
/// the memory of its parent's pools but not their threads, and makes its own.
fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    static POOLS: OnceLock<Mutex<Pools>> = OnceLock::new();
    let key = (std::process::id(), threads);
    let mut pools = lock(POOLS.get_or_init(Mutex::default));
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
    fn every_item_is_added_once_and_written_to_its_place() {
        for threads in [1, 2, 5] {
            let ticker = Ticker::default();
            let add = |sum: &mut usize, range: Range<usize>| {
                *sum += range.sum::<usize>();
                Ok(())
            };
            let merge = |sum: &mut usize, other| {
                *sum += other;
                Ok(())
            };
            assert_eq!(fold_exactly(threads, 101, 3, &ticker, || 0, add, merge), Ok(5050));
            let mut out = vec![0; 20];
            let write = |range: Range<usize>, part: &mut [usize]| {
                part.iter_mut().enumerate().for_each(|(i, entry)| *entry = 2 * range.start + i);
                Ok(range.len())
            };
            let sizes = fill_blocks(threads, 10, 3, &ticker, &mut out, |item| 2 * item, write).unwrap();
            assert_eq!((sizes, out), (vec![3, 3, 3, 1], (0..20).collect()));
        }
    }

    #[test]
    fn the_first_block_that_fails_is_the_one_that_is_named() {
        for threads in [1, 2, 5] {
            let fails = |range: Range<usize>| match range.start {
                start if start >= 30 => Err(Error::Internal(start.to_string())),
                _ => Ok(()),
            };
            let failed = map_blocks(threads, 100, 3, &Ticker::default(), fails);
            assert_eq!(failed, Err(Error::Internal("30".into())));
        }
    }

    #[test]
    fn cancelled_work_stops() {
        let ticker = Ticker::default();
        ticker.cancel();
        assert_eq!(map_blocks(2, 10, 1, &ticker, Ok), Err(Error::Interrupted));
    }
}
