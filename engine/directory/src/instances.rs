//! The instances of a check: which terms of which objects it asks for.

use hashbrown::HashMap;

use crate::derivation::Facts;
use crate::schema::TermId;
use crate::table::Node;

/// A term of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instance {
    pub(crate) node: Node,
    /// With [`POSSIBLE`] it asks whether the term could hold, and else whether it certainly does.
    pub(crate) term: TermId,
}

/// Marks the term of an instance that holds if unknown claims could make it hold. A schema has fewer terms.
pub(crate) const POSSIBLE: TermId = 1 << 31;

/// Instances in the order in which they were asked for, each once.
#[derive(Debug, Default)]
pub(crate) struct Instances {
    list: Vec<Instance>,
    /// The instances by their places, once there are many.
    places: HashMap<Instance, u32>,
}

/// So few instances are found by looking at each: most checks have no more.
const FEW: usize = 16;
/// The most instances whose memory is kept for the next check.
const KEPT: usize = 4_096;

impl Instances {
    /// Removes all.
    pub(crate) fn clear(&mut self) {
        if self.list.capacity() > KEPT {
            *self = Self::default();
        }
        self.list.clear();
        if !self.places.is_empty() {
            self.places.clear();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, place: usize) -> Instance {
        self.list[place]
    }

    /// Adds an instance unless it is there. Returns its place.
    #[inline]
    pub(crate) fn add(&mut self, instance: Instance) -> usize {
        let next = self.list.len();
        let known = if next <= FEW {
            self.list.iter().position(|own| *own == instance)
        } else {
            self.place_among_many(instance)
        };
        known.unwrap_or_else(|| {
            self.list.push(instance);
            next
        })
    }

    /// Returns the place of an instance that is there; notes the place that it will have if it is not.
    fn place_among_many(&mut self, instance: Instance) -> Option<usize> {
        if self.places.is_empty() {
            self.places.extend(self.list.iter().copied().zip(0..));
        }
        // The limits on work allow fewer instances than 2^32.
        let next = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(instance).or_insert(next);
        (place != next).then_some(place as usize)
    }
}

/// The facts of a closure, which are few.
impl Facts for Instances {
    fn insert(&mut self, term: TermId, node: Node) -> bool {
        let next = self.list.len();
        self.add(Instance { node, term }) == next
    }

    fn has(&self, term: TermId, node: Node) -> bool {
        let instance = Instance { node, term };
        match self.places.is_empty() {
            true => self.list.contains(&instance),
            false => self.places.contains_key(&instance),
        }
    }
}
