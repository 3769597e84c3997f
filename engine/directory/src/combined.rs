//! Decides terms that combine others by `&&` and `!`: asks for every instance first, then decides level by level.

use std::mem::take;

use crate::derivation::DerivationBuffer;
use crate::instances::{Instance, Instances, POSSIBLE};
use crate::walk::Walk;

/// The most instances whose memory is kept for the next check.
const KEPT: usize = 4_096;
/// The end of a chain of links.
const END: u32 = u32::MAX;

/// The memory of a check, which the next check uses again.
#[derive(Debug, Default)]
pub struct GraphBuffer {
    pub(crate) instances: Instances,
    pub(crate) derivation: DerivationBuffer,
    states: Vec<InstanceState>,
    links: Vec<Link>,
    /// The instances by level: level and place.
    order: Vec<(u32, u32)>,
    /// The places of instances that hold and whose dependents do not know it yet.
    open: Vec<u32>,
}

/// One instance while it is decided.
#[derive(Clone, Copy, Debug)]
struct InstanceState {
    level: u32,
    /// The number of instances that must still hold; 0 for one that holds unless it is blocked.
    waiting: u32,
    /// Whether an instance behind its `!` holds.
    is_blocked: bool,
    holds: bool,
    /// The first link to a dependent.
    first: u32,
}

/// An instance that depends on another.
#[derive(Clone, Copy, Debug)]
struct Link {
    dependent: u32,
    is_negative: bool,
    next: u32,
}

impl GraphBuffer {
    fn clear(&mut self) {
        self.instances.clear();
        if self.states.capacity() > KEPT || self.links.capacity() > KEPT {
            // These two bound their memory themselves.
            let (instances, derivation) = (take(&mut self.instances), take(&mut self.derivation));
            *self = Self { instances, derivation, ..Self::default() };
        }
        self.states.clear();
        self.links.clear();
        self.order.clear();
    }

    /// Decides the term `root` of a walk. `None` if it is too much work.
    pub(crate) fn combined(&mut self, walk: &mut Walk<'_>, root: Instance) -> Option<bool> {
        self.clear();
        self.instances.add(root);
        let mut place = 0;
        while place < self.instances.len() {
            self.expand(walk, place)?;
            place += 1;
        }
        self.decide();
        self.states.first().map(|state| state.holds)
    }

    /// Asks for the instances on which one depends.
    fn expand(&mut self, walk: &mut Walk<'_>, place: usize) -> Option<()> {
        let Self { instances, states, links, .. } = self;
        let (instance, mut factors) = (instances.get(place), 0);
        let flat = walk.graph.schema.flat(instance.term & !POSSIBLE);
        let (level, is_all) = (flat.level, flat.is_all);
        let new =
            InstanceState { level: 0, waiting: 1, is_blocked: false, holds: false, first: END };
        states.resize(states.len().max(place + 1), new);
        let is_stored = walk.expand(instance, |needed, is_negative| {
            factors += u32::from(!is_negative);
            let needed = instances.add(needed);
            // It may be an instance that is expanded later: its state must be there for the link.
            states.resize(states.len().max(needed + 1), new);
            let next = states[needed].first;
            states[needed].first = number(links.len());
            links.push(Link { dependent: number(place), is_negative, next });
        })?;
        let waiting = if is_all { factors } else { u32::from(!is_stored) };
        states[place] = InstanceState { level, waiting, ..states[place] };
        Some(())
    }

    /// Decides every instance, those behind a `!` before those with the `!`.
    fn decide(&mut self) {
        let Self { states, links, order, open, .. } = self;
        order.extend(states.iter().map(|state| state.level).zip(0..));
        order.sort_unstable();
        for level in order.chunk_by(|a, b| a.0 == b.0) {
            let places = level.iter().map(|(_, place)| *place);
            open.extend(places.filter(|place| states[*place as usize].is_ready()));
            while let Some(place) = open.pop() {
                let InstanceState { level, mut first, .. } = states[place as usize];
                // Each alternative that holds opens the instance.
                if std::mem::replace(&mut states[place as usize].holds, true) {
                    continue;
                }
                while first != END {
                    let Link { dependent, is_negative, next } = links[first as usize];
                    let state = &mut states[dependent as usize];
                    state.is_blocked |= is_negative;
                    // Any of several alternatives is enough, and more of them may hold.
                    state.waiting = state.waiting.saturating_sub(u32::from(!is_negative));
                    // One of a higher level is opened with its level, when nothing can block it any more.
                    if state.level == level && state.is_ready() {
                        open.push(dependent);
                    }
                    first = next;
                }
            }
        }
    }
}

impl InstanceState {
    fn is_ready(&self) -> bool {
        self.waiting == 0 && !self.is_blocked
    }
}

/// Returns the number of an instance or a link. The limits on work allow fewer of both than 2^32.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(END)
}
