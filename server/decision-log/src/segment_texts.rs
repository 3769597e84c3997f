//! The texts that records of a write-ahead file refer to, as its readers need them.

use std::collections::HashMap;
use std::io;

use parquet::data_type::ByteArray;

use crate::frame::Frame;
use crate::segment::Segment;
use crate::shared::Insert;

/// The texts of a write-ahead file, as the records that refer to them are read.
#[derive(Debug)]
pub(crate) struct SegmentTexts<'s> {
    segment: &'s Segment,
    /// By offset.
    known: HashMap<u64, ByteArray>,
    bytes: usize,
    /// The most bytes that are remembered.
    most: usize,
}

impl<'s> SegmentTexts<'s> {
    pub(crate) fn new(segment: &'s Segment, most: usize) -> Self {
        Self { segment, known: HashMap::new(), bytes: 0, most }
    }

    /// Returns the texts of a record, each with its place; `None` if one was damaged meanwhile.
    pub(crate) fn of(&mut self, frame: &Frame<'_>) -> io::Result<Option<Vec<Insert>>> {
        let mut inserts = Vec::with_capacity(frame.references().len());
        for reference in frame.references() {
            let Some(text) = self.at(reference.offset)? else { return Ok(None) };
            inserts.push((reference.at, text));
        }
        Ok(Some(inserts))
    }

    fn at(&mut self, offset: u64) -> io::Result<Option<ByteArray>> {
        if let Some(text) = self.known.get(&offset) {
            return Ok(Some(text.clone()));
        }
        let Some(text) = self.segment.text_at(offset)? else { return Ok(None) };
        if self.bytes > self.most {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += text.len();
        self.known.insert(offset, text.clone());
        Ok(Some(text))
    }
}
