//! A part of the record that is read at once: a write-ahead file.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use uuid::Uuid;

use crate::segment::{Extent, Segment};
use crate::wanted::Wanted;

/// A part of the record whose ids are known, and that is not read yet.
#[derive(Debug)]
pub(crate) struct Chunk {
    segment: Arc<Segment>,
    extent: Extent,
}

/// The wanted records of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// JSON texts, one after the other.
    texts: Vec<u8>,
    /// The id of each record, and the place of its text.
    places: Vec<(Uuid, Range<usize>)>,
}

impl Chunk {
    /// Takes what is written by now.
    pub(crate) fn of_segment(segment: Arc<Segment>) -> Self {
        let extent = segment.extent();
        Self { segment, extent }
    }

    /// Returns the smallest and the greatest id; `None` if there is no record.
    pub(crate) fn ids(&self) -> Option<(Uuid, Uuid)> {
        self.extent.ids
    }

    /// Reads the wanted records.
    pub(crate) fn load(&self, wanted: &Wanted) -> io::Result<Loaded> {
        let mut loaded = Loaded::default();
        self.segment.read(self.extent.length, |frame| {
            if frame.tenant == wanted.tenant
                && wanted.has_id(frame.id)
                && wanted.has_members(frame.json)
            {
                loaded.add(frame.id, frame.json);
            }
        })?;
        Ok(loaded)
    }
}

impl Loaded {
    pub(crate) fn add(&mut self, id: Uuid, json: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(json);
        self.places.push((id, start..self.texts.len()));
    }

    /// Sorts the records by `key`, the last one first.
    pub(crate) fn sort_by(&mut self, key: impl Fn(Uuid) -> u128) {
        self.places.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(key(*id)));
    }

    /// Returns the id of the next record.
    pub(crate) fn next_id(&self) -> Option<Uuid> {
        self.places.last().map(|(id, _)| *id)
    }

    /// Takes the next record.
    pub(crate) fn next(&mut self) -> Option<(Uuid, &[u8])> {
        let (id, place) = self.places.pop()?;
        Some((id, self.texts.get(place)?))
    }
}
