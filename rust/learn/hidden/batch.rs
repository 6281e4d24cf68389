//! Episodes abreast: at every time the steps of all of them, those of an action together.

use crate::learn::hidden::Coded;

/// Episodes that are passed over together: enough for a matrix product, few enough for the cache.
const ABREAST: usize = 256;

/// All steps of some episodes at one time, those of an action together.
pub(super) struct Moment {
    /// Steps, by position; and the position one step earlier.
    pub(super) steps: Vec<usize>,
    pub(super) before: Vec<usize>,
    /// By action: first position and last + 1.
    pub(super) groups: Vec<(usize, usize)>,
    /// Where the rows of this moment begin.
    pub(super) base: usize,
}

/// Episodes that are sorted for the passes: the longest first.
pub(super) struct Batch {
    /// By position at the first moment: the episode.
    pub(super) episodes: Vec<usize>,
    pub(super) moments: Vec<Moment>,
    pub(super) rows: usize,
}

impl Batch {
    /// These episodes, in batches that are passed over together.
    pub(super) fn all(coded: &Coded, episodes: &[usize]) -> Vec<Batch> {
        let mut sorted: Vec<usize> =
            episodes.iter().copied().filter(|&episode| !coded.steps(episode).is_empty()).collect();
        sorted.sort_by_key(|&episode| std::cmp::Reverse(coded.steps(episode).len()));
        sorted.chunks(ABREAST).map(|part| Self::new(coded, part)).collect()
    }

    fn new(coded: &Coded, episodes: &[usize]) -> Batch {
        let (mut moments, mut rows) = (Vec::new(), 0);
        let mut position: Vec<usize> = (0..episodes.len()).collect();
        for time in 0..coded.steps(episodes[0]).len() {
            let alive = episodes.partition_point(|&episode| coded.steps(episode).len() > time);
            let step = |member: usize| coded.steps(episodes[member]).start + time;
            let mut order: Vec<usize> = (0..alive).collect();
            order.sort_by_key(|&member| (coded.actions[step(member)], member));
            let groups = (0..coded.n_actions as u32)
                .map(|action| {
                    let below = |limit: u32| order.partition_point(|&m| coded.actions[step(m)] < limit);
                    (below(action), below(action + 1))
                })
                .collect();
            let before = order.iter().map(|&member| position[member]).collect();
            order.iter().enumerate().for_each(|(place, &member)| position[member] = place);
            let steps = order.iter().map(|&member| step(member)).collect();
            moments.push(Moment { steps, before, groups, base: rows });
            rows += alive;
        }
        Batch { episodes: episodes.to_vec(), moments, rows }
    }
}
