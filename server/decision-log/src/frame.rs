//! A record in the write-ahead file, with what a reader needs to skip it.
//!
//! The length of the rest (32 bits, little endian) and its CRC-32; then the kind, the id of the record (16 bytes), the
//! length of the tenant's id (16 bits, little endian), the tenant's id, and the JSON text.
//!
//! A frame may hold a text that several records have. A record that refers to such texts has [`REFERS`] in its kind, and behind
//! its JSON text for each: the place of the placeholder in the JSON text (32 bits), and the offset of the text's frame in the
//! file (64 bits, both little endian), then their number (8 bits).

use std::io::{self, Read};

use uuid::Uuid;

use crate::shared::TextUse;

/// Bytes before the part that the checksum covers.
const PREFIX: usize = 8;
/// Bytes from the checksum's part to the tenant: kind, id, length.
const HEAD: usize = 1 + 16 + 2;
/// The most bytes of a frame that is written. A body of a check has at most 1 MiB, and the directory and resolvers add theirs.
pub(crate) const MAX_WRITTEN: usize = 4 * 1024 * 1024;
/// The most bytes of a frame that is read: earlier versions wrote larger ones.
const MAX_FRAME: usize = 16 * 1024 * 1024;
/// The bytes that tell whether a frame may begin with them.
pub(crate) const LEAST: usize = PREFIX + HEAD;

/// Whether somebody waits for the record to be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Async = 0,
    Durable = 1,
    /// A count of allows that were left out, and not the record of a decision.
    Count = 2,
    /// A text that records behind it refer to.
    Text = 3,
}

/// The bit of a kind whose frame refers to texts.
const REFERS: u8 = 0x10;
/// The bytes of a reference.
const REFERENCE: usize = 4 + 8;

/// The reference of a record to a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// The place of the placeholder in the JSON text.
    pub(crate) at: usize,
    /// The place of the text's frame in the file.
    pub(crate) offset: u64,
}

/// A frame that was read.
#[derive(Debug)]
pub(crate) struct Frame<'f> {
    pub(crate) kind: Kind,
    pub(crate) id: Uuid,
    pub(crate) tenant: &'f str,
    /// With placeholders for the texts that it refers to.
    pub(crate) json: &'f [u8],
    references: &'f [u8],
}

/// Appends a frame, without its length and checksum, whose JSON text `write` writes. [`finish`] completes it.
pub(crate) fn begin(
    out: &mut Vec<u8>,
    (kind, id, tenant): (Kind, Uuid, &str),
    write: impl FnOnce(&mut Vec<u8>),
) {
    out.extend_from_slice(&[0; PREFIX]);
    out.push(kind as u8);
    out.extend_from_slice(id.as_bytes());
    // The id of a tenant has at most 128 bytes.
    let length = u16::try_from(tenant.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&tenant.as_bytes()[..usize::from(length)]);
    write(out);
}

/// Appends references to texts, whose offsets [`point`] fills in, to the frame of a record.
pub(crate) fn refer(frame: &mut Vec<u8>, uses: &[TextUse]) {
    // A record has five members that may be apart, so that their number fits.
    let (Some(kind), Ok(count)) = (frame.get_mut(PREFIX), u8::try_from(uses.len())) else { return };
    if count == 0 {
        return;
    }
    *kind |= REFERS;
    for TextUse { at, .. } in uses {
        // A frame has at most 4 MiB.
        frame.extend_from_slice(&u32::try_from(*at).unwrap_or(u32::MAX).to_le_bytes());
        frame.extend_from_slice(&[0; 8]);
    }
    frame.push(count);
}

/// Appends the frame of a text that the record in `frame` refers to.
pub(crate) fn append_text(out: &mut Vec<u8>, frame: &[u8], text: &[u8]) {
    let Some(record) = Frame::parse(content(frame)) else { return };
    let start = out.len();
    begin(out, (Kind::Text, record.id, record.tenant), |out| out.extend_from_slice(text));
    finish(&mut out[start..]);
}

/// Fills the offsets of the texts into a frame, in the order of its references.
pub(crate) fn point(frame: &mut [u8], offsets: impl ExactSizeIterator<Item = u64>) {
    let start = frame.len().saturating_sub(offsets.len() * REFERENCE + 1);
    let references = frame.get_mut(start..).unwrap_or_default();
    for (reference, offset) in references.chunks_exact_mut(REFERENCE).zip(offsets) {
        reference[REFERENCE - 8..].copy_from_slice(&offset.to_le_bytes());
    }
    // The checksum covers the references.
    finish(frame);
}

/// Writes length and checksum of a frame.
pub(crate) fn finish(frame: &mut [u8]) {
    let Some((prefix, rest)) = frame.split_at_mut_checked(PREFIX) else { return };
    let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
    prefix[..4].copy_from_slice(&length.to_le_bytes());
    prefix[4..].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
}

/// Returns the id of the record of a frame.
pub(crate) fn id(frame: &[u8]) -> Uuid {
    let bytes = frame.get(PREFIX + 1..PREFIX + 17);
    bytes.and_then(|bytes| Uuid::from_slice(bytes).ok()).unwrap_or_default()
}

/// Returns the content of a frame behind its length and checksum.
pub(crate) fn content(frame: &[u8]) -> &[u8] {
    frame.get(PREFIX..).unwrap_or_default()
}

/// Returns whether a frame may begin with the bytes, as far as their first [`LEAST`] tell. No JSON text has such bytes: it has no
/// control characters.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    let Some((prefix, head)) = bytes.get(..LEAST).and_then(|all| all.split_at_checked(PREFIX))
    else {
        return false;
    };
    let length = usize::from(u16::from_le_bytes([head[HEAD - 2], head[HEAD - 1]]));
    head[0] & !REFERS <= Kind::Text as u8
        && (HEAD + length..=MAX_FRAME).contains(&length_in(prefix))
}

/// Returns the length in the first bytes of a frame.
fn length_in(prefix: &[u8]) -> usize {
    number(prefix.get(..4).unwrap_or_default()) as usize
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// Reads the next frame into `buffer` and returns its bytes in the file. `None` at the end, and where no sound frame
/// follows.
pub(crate) fn read(from: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut prefix = [0; PREFIX];
    if !fill(from, &mut prefix)? {
        return Ok(None);
    }
    let length = length_in(&prefix);
    // A damaged length must not make the buffer large.
    if !(HEAD..=MAX_FRAME).contains(&length) {
        return Ok(None);
    }
    buffer.resize(length, 0);
    let is_sound = fill(from, buffer)? && crc32fast::hash(buffer) == number(&prefix[4..]);
    Ok(is_sound.then_some((PREFIX + length) as u64))
}

/// Fills `buffer`; false if the file ends before.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl<'f> Frame<'f> {
    /// Reads what [`read`] put into the buffer.
    pub(crate) fn parse(bytes: &'f [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let kind = match head[0] & !REFERS {
            1 => Kind::Durable,
            2 => Kind::Count,
            3 => Kind::Text,
            _ => Kind::Async,
        };
        let id = Uuid::from_slice(&head[1..17]).ok()?;
        let length = u16::from_le_bytes(head[17..].try_into().ok()?);
        let (tenant, json) = rest.split_at_checked(usize::from(length))?;
        let (json, references) = match head[0] & REFERS {
            0 => (json, [].as_slice()),
            _ => {
                let (count, rest) = json.split_last()?;
                rest.split_at_checked(rest.len().checked_sub(usize::from(*count) * REFERENCE)?)?
            }
        };
        let tenant = std::str::from_utf8(tenant).ok()?;
        Some(Self { kind, id, tenant, json, references })
    }

    /// Returns the references to texts, in the order of their places.
    pub(crate) fn references(&self) -> impl ExactSizeIterator<Item = Reference> {
        self.references.chunks_exact(REFERENCE).map(|bytes| {
            let (at, offset) = bytes.split_at(4);
            let offset = u64::from_le_bytes(offset.try_into().unwrap_or_default());
            Reference { at: number(at) as usize, offset }
        })
    }
}
