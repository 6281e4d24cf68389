//! Episodes abreast: at every time the steps of a batch of episodes, sorted by what they share.
//!
//! Steps with the same action, last and next observation need the same block of the same matrix. Together they are one
//! small matrix product.

use std::ops::Range;

use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::trajectories::View;

/// Episodes of a batch: enough that groups are worth a product, few enough that their beliefs stay in the cache.
const ABREAST: usize = 256;

/// Steps at the same time of a batch that share a block, at positions `first..first + count`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    pub first: usize,
    pub count: usize,
    pub kind: usize,
    /// Clones that the agent may be in before the step, and after it.
    pub from: (usize, usize),
    pub to: (usize, usize),
    /// Whether the world ends the episodes here.
    pub ended: bool,
}

/// All steps of a batch at one time.
pub struct Moment {
    pub groups: Vec<Group>,
    /// By position: the row of the law of events, and the position one step earlier.
    pub events: Vec<u32>,
    pub before: Vec<u32>,
    /// Positions of the episodes whose last step this is.
    pub last: Vec<u32>,
    /// By position, in noisy models: the code of what is seen on arrival, where it is not drawn on leaving.
    pub shown: Vec<u32>,
    /// Rows of earlier moments, but for the first.
    pub base: usize,
}

/// Some episodes of a data set, ready for passes of a model with this layout.
pub struct Lockstep {
    pub batches: Vec<Vec<Moment>>,
    pub n_steps: usize,
    /// The most rows that a batch needs, the first moment not counted.
    pub max_rows: usize,
    pub max_abreast: usize,
    /// The most clones that an observation of these episodes has.
    pub widest: usize,
}

impl Lockstep {
    /// `episodes` in any order.
    pub fn new(view: &View, tasks: &Tasks, layout: &Layout, episodes: &[usize]) -> Self {
        let length = |episode: usize| view.episode(episode).len();
        let mut sorted = episodes.to_vec();
        sorted.sort_by_key(|&episode| std::cmp::Reverse(length(episode)));
        let batches: Vec<Vec<Moment>> =
            sorted.chunks(ABREAST).map(|part| batch(view, tasks, layout, part)).collect();
        let groups = || batches.iter().flatten().flat_map(|moment| &moment.groups);
        Lockstep {
            widest: groups().map(|group| group.to.1 - group.to.0).max().unwrap_or(1),
            n_steps: episodes.iter().map(|&episode| length(episode)).sum(),
            max_rows: batches.iter().map(|moments| rows(moments)).max().unwrap_or(0),
            max_abreast: episodes.len().min(ABREAST),
            batches,
        }
    }
}

fn rows(moments: &[Moment]) -> usize {
    moments.last().map_or(0, |moment| moment.base + if moments.len() > 1 { moment.events.len() } else { 0 })
}

/// Clones that the agent may be in before the first step.
fn first_range(view: &View, layout: &Layout, episode: usize) -> (usize, usize) {
    let first = view.first(episode).filter(|_| layout.opens);
    first.map_or((0, layout.n_states), |first| layout.range(first))
}

/// Those of a batch have numbers of so many bits.
const MEMBERS: usize = (1 << 16) - 1;

/// By what the steps of a moment are sorted: what they share, then their events, then their episodes.
fn key(shared: &Group, event: u32, member: usize, states: usize) -> u128 {
    let of = |(low, high): (usize, usize)| (low as u128) << 1 | u128::from(high - low == states);
    let group = ((u128::from(shared.ended) << 22 | shared.kind as u128) << 22 | of(shared.from)) << 22
        | of(shared.to);
    (group << 32 | u128::from(event)) << 16 | member as u128
}

/// Episodes of one batch, the longest first: those that go on at a time are the first ones.
fn batch(view: &View, tasks: &Tasks, layout: &Layout, episodes: &[usize]) -> Vec<Moment> {
    let code = |observation: i32| layout.codes[observation as usize];
    let steps: Vec<Range<usize>> = episodes.iter().map(|&episode| view.episode(episode)).collect();
    let mut position = vec![0u32; episodes.len()];
    let (mut moments, mut base) = (Vec::<Moment>::new(), 0);
    for time in 0..steps[0].len() {
        let live = steps.partition_point(|steps| steps.len() > time);
        let mut order: Vec<(u128, Group, u32)> = Vec::with_capacity(live);
        for (member, steps) in steps[..live].iter().enumerate() {
            let (episode, step) = (episodes[member], steps.start + time);
            let ended = view.terminated[episode] && time + 1 == steps.len();
            let from = match time {
                0 => first_range(view, layout, episode),
                _ => layout.range(view.observations[step - 1] as usize),
            };
            let kind = layout.kinds[view.actions[step] as usize] as usize;
            let to = layout.range(view.observations[step] as usize);
            let task = tasks.of_episode(episode);
            let event = tasks.classes(task).event(view.rewards[step], ended);
            let event = ((task * layout.n_kinds + kind) * layout.n_events + event) as u32;
            let left = match time {
                0 => view.first(episode).filter(|_| layout.opens).map(|first| layout.codes[first]),
                _ => Some(code(view.observations[step - 1])),
            };
            let event = event * layout.n_shown as u32 + left.unwrap_or(layout.nothing());
            let shared = Group { first: 0, count: 0, kind, from, to, ended };
            order.push((key(&shared, event, member, layout.n_states), shared, event));
        }
        order.sort_unstable_by_key(|entry| entry.0);
        let mut moment = Moment {
            groups: Vec::new(),
            events: Vec::with_capacity(live),
            before: Vec::with_capacity(live),
            last: Vec::new(),
            shown: Vec::new(),
            base,
        };
        let old = position.clone();
        for (place, &(key, shared, event)) in order.iter().enumerate() {
            let member = key as usize & MEMBERS;
            match moment.groups.last_mut() {
                Some(group) if Group { first: 0, count: 0, ..*group } == shared => group.count += 1,
                _ => moment.groups.push(Group { first: place, count: 1, ..shared }),
            }
            moment.events.push(event);
            moment.before.push(old[member]);
            let is_last = time + 1 == steps[member].len();
            if is_last {
                moment.last.push(place as u32);
            }
            if layout.noisy() {
                let seen = code(view.observations[steps[member].start + time]);
                moment.shown.push(if is_last { seen } else { layout.nothing() });
            }
            position[member] = place as u32;
        }
        if time > 0 {
            base += live;
        }
        moments.push(moment);
    }
    moments
}
