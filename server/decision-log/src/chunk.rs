//! A part of the record that is read at once: a write-ahead file, or a row group of a sealed file.

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use uuid::Uuid;

use crate::at_rest::{RestedGroup, RestedPart};
use crate::others::Heard;
use crate::reading::SPENT;
use crate::segment::{Extent, Segment};
use crate::segment_texts::SegmentTexts;
use crate::shared::{Insert, address, expand, whole_bytes};
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
    /// JSON texts, one after the other, without those that several records share.
    texts: Vec<u8>,
    records: Vec<LoadedRecord>,
    /// The addresses of the shared texts, and their bytes in all.
    shared: BTreeSet<usize>,
    shared_bytes: usize,
    /// The records before this key were read earlier.
    from: u128,
    /// The records from this key on found no room, and are read later.
    rest: Option<u128>,
    /// The bytes of the texts that were kept when others were forgotten.
    kept: usize,
    /// The whole text of the last record that was taken.
    whole: Vec<u8>,
}

/// A record of a chunk.
#[derive(Debug)]
struct LoadedRecord {
    id: Uuid,
    /// The place of its text.
    json: Range<usize>,
    /// The texts that it shares with others.
    inserts: Box<[Insert]>,
}

/// The most bytes of the shared texts of a write-ahead file that a reader remembers for later records.
const MAX_REMEMBERED: usize = 8 << 20;

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

    /// Reads the wanted records from the key `from` on, as many as `may_hold` allows with the bytes of their texts in
    /// memory. Blocks.
    pub(crate) fn open(
        &self,
        wanted: &Wanted,
        from: u128,
        mut may_hold: impl FnMut(usize) -> bool,
    ) -> io::Result<Opened> {
        // The closure below cannot return an error, so the flag tells it after the reading.
        let (mut loaded, mut is_spent) = (Loaded { from, ..Loaded::default() }, false);
        let mut add = |id, json: &[u8], inserts: &[Insert]| {
            // After the first record without room, no other one is added.
            is_spent = is_spent || !loaded.add_wanted(wanted, (id, json, inserts), &mut may_hold);
        };
        match self {
            Self::Part(part) => {
                let groups = part.sound_groups(wanted)?;
                return Ok(Opened::Chunks(groups.into_iter().map(Self::Group).collect()));
            }
            Self::Group(group) => group.load(wanted, add)?,
            Self::Buffered(segment, extent) => {
                let mut texts = SegmentTexts::new(segment, MAX_REMEMBERED);
                let mut read = Ok(());
                segment.read(extent.length, |frame| {
                    if !wanted.has(&frame) {
                        return;
                    }
                    match texts.of(&frame) {
                        Ok(Some(inserts)) => add(frame.id, frame.json, &inserts),
                        Ok(None) => {}
                        Err(error) => read = Err(error),
                    }
                })?;
                read?;
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
    pub(crate) fn from_others(heard: Heard, wanted: &Wanted) -> Self {
        let mut loaded = Self::default();
        heard.each(|frame| {
            if wanted.has(&frame) {
                loaded.add(frame.id, frame.json, &[]);
            }
        });
        loaded
    }

    fn add(&mut self, id: Uuid, json: &[u8], inserts: &[Insert]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(json);
        for (_, text) in inserts {
            if self.shared.insert(address(text)) {
                self.shared_bytes += text.len();
            }
        }
        let json = start..self.texts.len();
        self.records.push(LoadedRecord { id, json, inserts: inserts.into() });
    }

    /// Adds a record, and forgets others if only the first ones are wanted and there are many. Returns whether there is room.
    fn add_wanted(
        &mut self,
        wanted: &Wanted,
        (id, json, inserts): (Uuid, &[u8], &[Insert]),
        may_hold: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let key = wanted.key(id);
        if key < self.from || self.is_beyond(key) {
            return true;
        }
        // First the records go that the reader would not want anyway, and only then wanted ones are put off.
        if !may_hold(self.bytes_with(json, inserts)) {
            self.retain_first(wanted);
            while !may_hold(self.bytes_with(json, inserts)) {
                if wanted.is_page() || !self.put_off(wanted, key) {
                    return false;
                }
                // The new record is among those that are put off.
                if self.is_beyond(key) {
                    return true;
                }
            }
        }
        self.add(id, json, inserts);
        if wanted.is_many(self.records.len(), self.bytes().saturating_sub(self.kept)) {
            self.retain_first(wanted);
        }
        true
    }

    /// Forgets all records but the first ones that are wanted.
    fn retain_first(&mut self, wanted: &Wanted) {
        wanted.retain_first(&mut self.records, |record| record.id);
        wanted.retain_fitting(&mut self.records, |record| record.id, LoadedRecord::bytes);
        self.pack();
        self.kept = self.bytes();
    }

    /// Puts off the second half of the records, or those from the new one with `key` on, so that what is left has room. Returns
    /// false if no record is left to put off.
    fn put_off(&mut self, wanted: &Wanted, key: u128) -> bool {
        self.records.sort_unstable_by_key(|record| wanted.key(record.id));
        let kept = match &self.records[..] {
            [] => return false,
            [only] => usize::from(wanted.key(only.id) < key),
            // Half of the records go at once, so that a full memory does not cost a pass for each record.
            more => more.len() / 2,
        };
        self.rest = Some(self.records.get(kept).map_or(key, |record| wanted.key(record.id)));
        self.records.truncate(kept);
        self.pack();
        true
    }

    /// Forgets the texts that no record has any more.
    fn pack(&mut self) {
        let (records, texts) = (mem::take(&mut self.records), mem::take(&mut self.texts));
        // The records that stay count their shared texts anew.
        self.shared.clear();
        self.shared_bytes = 0;
        for LoadedRecord { id, json, inserts } in records {
            self.add(id, &texts[json], &inserts);
        }
    }

    fn is_beyond(&self, key: u128) -> bool {
        self.rest.is_some_and(|rest| rest <= key)
    }

    /// Returns the key from which on the records of the chunk are read later.
    pub(crate) fn rest(&self) -> Option<u128> {
        self.rest
    }

    /// Returns the bytes of the texts in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.texts.len() + self.shared_bytes
    }

    /// Returns the bytes in memory with one record more.
    fn bytes_with(&self, json: &[u8], inserts: &[Insert]) -> usize {
        // A text that another record has as well is in memory only once.
        let new = inserts.iter().filter(|(_, text)| !self.shared.contains(&address(text)));
        self.bytes() + whole_bytes(json, new.map(|(_, text)| text))
    }

    /// Sorts the records by `key`, the last one first.
    pub(crate) fn sort_by(&mut self, key: impl Fn(Uuid) -> u128) {
        // The records are taken from the end, so they are sorted backwards.
        self.records.sort_unstable_by_key(|record| std::cmp::Reverse(key(record.id)));
    }

    /// Returns the id of the next record.
    pub(crate) fn next_id(&self) -> Option<Uuid> {
        self.records.last().map(|record| record.id)
    }

    /// Takes the next record, whole.
    pub(crate) fn next(&mut self) -> Option<(Uuid, &[u8])> {
        let LoadedRecord { id, json, inserts } = self.records.pop()?;
        let json = self.texts.get(json)?;
        if inserts.is_empty() {
            return Some((id, json));
        }
        expand(json, inserts.iter().map(|(at, text)| (*at, text)), &mut self.whole);
        Some((id, &self.whole))
    }
}

impl LoadedRecord {
    /// Returns the bytes of its whole text.
    fn bytes(&self) -> usize {
        self.inserts.iter().fold(self.json.len(), |bytes, (_, text)| bytes + text.len())
    }
}
