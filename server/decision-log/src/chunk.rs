//! A part of the record that is read at once: a write-ahead file, or a row group of a sealed file.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use uuid::Uuid;

use crate::at_rest::{RestedGroup, RestedPart};
use crate::others::Heard;
use crate::reading::SPENT;
use crate::segment::{Extent, Segment};
use crate::wanted::Wanted;

/// A part of the record whose ids are known, and that is not read yet.
#[derive(Debug)]
pub(crate) enum Chunk {
    Buffered(Arc<Segment>, Extent),
    Part(RestedPart),
    Group(RestedGroup),
}

/// A chunk that was read.
#[derive(Debug)]
pub(crate) enum Opened {
    Records(Loaded),
    /// It has its own parts, whose ids are known now.
    Chunks(Vec<Chunk>),
}

/// The wanted records of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// JSON texts, one after the other.
    texts: Vec<u8>,
    /// The id of each record, and the place of its text.
    places: Vec<(Uuid, Range<usize>)>,
    /// The bytes of the texts that were kept when others were forgotten.
    kept: usize,
}

impl Chunk {
    /// Takes what is written by now.
    pub(crate) fn from_segment(segment: Arc<Segment>) -> Self {
        let extent = segment.extent();
        Self::Buffered(segment, extent)
    }

    /// Returns the smallest and the greatest id; `None` if there is no record.
    pub(crate) fn ids(&self) -> Option<(Uuid, Uuid)> {
        match self {
            Self::Buffered(_, extent) => extent.ids,
            Self::Part(part) => Some(part.ids()),
            Self::Group(group) => Some(group.ids),
        }
    }

    /// Returns the path of the sealed file.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Buffered(..) => None,
            Self::Part(part) => Some(part.path()),
            Self::Group(group) => Some(group.path()),
        }
    }

    /// Reads the wanted records, while `may_hold` says that so many bytes of their texts may be in memory. Blocks.
    pub(crate) fn open(
        &self,
        wanted: &Wanted,
        mut may_hold: impl FnMut(usize) -> bool,
    ) -> io::Result<Opened> {
        let (mut loaded, mut is_spent) = (Loaded::default(), false);
        let mut add = |id, json: &[u8]| {
            is_spent = is_spent || !loaded.add_wanted(wanted, (id, json), &mut may_hold);
        };
        match self {
            Self::Part(part) => {
                let groups = part.sound_groups(wanted)?;
                return Ok(Opened::Chunks(groups.into_iter().map(Self::Group).collect()));
            }
            Self::Group(group) => group.load(wanted, add)?,
            Self::Buffered(segment, extent) => {
                segment.read(extent.length, |frame| {
                    if wanted.has(&frame) {
                        add(frame.id, frame.json);
                    }
                })?;
            }
        }
        if is_spent {
            return Err(SPENT.into());
        }
        Ok(Opened::Records(loaded))
    }
}

impl Loaded {
    /// Takes the wanted records of other replicas. A record that two of them sent is there twice.
    pub(crate) fn from_others(heard: &Heard, wanted: &Wanted) -> Self {
        let mut loaded = Self::default();
        heard.each(|frame| {
            if wanted.has(&frame) {
                loaded.add(frame.id, frame.json);
            }
        });
        loaded
    }

    pub(crate) fn add(&mut self, id: Uuid, json: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(json);
        self.places.push((id, start..self.texts.len()));
    }

    /// Adds a record, and forgets others if only the first ones are wanted and there are many. Returns whether there is room.
    fn add_wanted(
        &mut self,
        wanted: &Wanted,
        (id, json): (Uuid, &[u8]),
        may_hold: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        if !may_hold(self.texts.len() + json.len()) {
            self.retain_first(wanted);
            if !may_hold(self.texts.len() + json.len()) {
                return false;
            }
        }
        self.add(id, json);
        if wanted.is_many(self.places.len(), self.texts.len() - self.kept) {
            self.retain_first(wanted);
        }
        true
    }

    /// Forgets all records but the first ones that are wanted.
    fn retain_first(&mut self, wanted: &Wanted) {
        wanted.retain_first(&mut self.places, |(id, _)| *id);
        wanted.retain_fitting(&mut self.places, |(id, _)| *id, |(_, place)| place.len());
        let mut kept = Self::default();
        for (id, place) in std::mem::take(&mut self.places) {
            kept.add(id, &self.texts[place]);
        }
        *self = Self { kept: kept.texts.len(), ..kept };
    }

    /// Returns the bytes of the texts.
    pub(crate) fn bytes(&self) -> usize {
        self.texts.len()
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
