//! The text of an answer, whose memory is held in steps while it is written and until it is sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io, vec};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use portcullis_limits::Spent;

use crate::recipient::{FREE, Hold, Recipient};

/// Bytes of a text for which there is room from the start: most answers to checks.
const SHORT: usize = 256;
/// The growth of the first segment. A text of [`UNCOUNTED`] bytes is copied once.
const GROWTH: usize = 8;
/// Longest text whose memory is not counted, in bytes. A connection has at most 100 of them.
const UNCOUNTED: usize = SHORT * GROWTH;
/// Longest segment, in bytes.
const SEGMENT: usize = FREE;

/// A text that is being written, in segments: nothing is copied when it grows, and each is free again when it is sent.
#[derive(Debug, Default)]
pub struct AnswerText {
    full: Vec<Segment>,
    last: Segment,
}

/// A part of a text. It holds its memory.
#[derive(Debug, Default)]
struct Segment {
    text: Vec<u8>,
    hold: Option<Hold>,
}

impl AsRef<[u8]> for Segment {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// The reason why a text cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    Spent,
    /// A long text is written outside of a request, where nobody can be charged.
    NoRecipient,
}

impl TextError {
    /// The kind of the error of a writer of JSON for [`TextError::Spent`].
    pub const SPENT: io::ErrorKind = io::ErrorKind::OutOfMemory;
}

impl From<TextError> for io::Error {
    fn from(error: TextError) -> Self {
        match error {
            TextError::Spent => TextError::SPENT.into(),
            TextError::NoRecipient => Self::other("an answer without a recipient"),
        }
    }
}

impl Segment {
    /// Makes room for up to `capacity` bytes, which are held first.
    fn grow_to(&mut self, capacity: usize) -> Result<(), TextError> {
        if capacity > UNCOUNTED {
            let hold = match &mut self.hold {
                Some(hold) => hold,
                None => {
                    let recipient = Recipient::current().ok_or(TextError::NoRecipient)?;
                    self.hold.insert(recipient.hold())
                }
            };
            hold.grow_to(capacity).map_err(|Spent| TextError::Spent)?;
        }
        self.text.reserve_exact(capacity - self.text.len());
        Ok(())
    }

    /// Takes the first bytes of `text`, as many as there is room for. Returns the others.
    fn take<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let room = self.text.capacity() - self.text.len();
        let (taken, rest) = text.split_at(room.min(text.len()));
        self.text.extend_from_slice(taken);
        rest
    }

    fn into_bytes(self) -> Bytes {
        // Only memory that is held must be given back when the bytes are sent.
        if self.hold.is_none() { self.text.into() } else { Bytes::from_owner(self) }
    }
}

impl AnswerText {
    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len_of_full() + self.last.text.len()
    }

    fn len_of_full(&self) -> usize {
        self.full.iter().map(|segment| segment.text.len()).sum()
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// The memory for answers is spent.
    #[inline]
    pub fn push(&mut self, text: &[u8]) -> Result<(), TextError> {
        let rest = self.last.take(text);
        if rest.is_empty() { Ok(()) } else { self.push_rest(rest) }
    }

    fn push_rest(&mut self, mut rest: &[u8]) -> Result<(), TextError> {
        while !rest.is_empty() {
            if self.last.text.len() >= SEGMENT {
                self.full.push(std::mem::take(&mut self.last));
            }
            let grown = (self.last.text.capacity() * GROWTH).clamp(SHORT, SEGMENT);
            // A text with a full segment is long, so that its next segments have their full length from the start.
            self.last.grow_to(if self.full.is_empty() { grown } else { SEGMENT })?;
            rest = self.last.take(rest);
        }
        Ok(())
    }

    /// Drops what comes after the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        while self.len_of_full() > length
            && let Some(segment) = self.full.pop()
        {
            self.last = segment;
        }
        self.last.text.truncate(length - self.len_of_full());
    }

    /// Returns the body with this text.
    pub fn into_body(self) -> Body {
        if self.full.is_empty() {
            return Body::from(self.last.into_bytes());
        }
        let left = self.len() as u64;
        let segments: Vec<Bytes> = self.into_pieces().collect();
        Body::new(SegmentedBody { segments: segments.into_iter(), left })
    }

    /// Returns the text in pieces.
    pub fn into_pieces(self) -> impl Iterator<Item = Bytes> {
        self.full.into_iter().chain([self.last]).map(Segment::into_bytes)
    }
}

impl io::Write for AnswerText {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.push(text)?;
        Ok(text.len())
    }

    #[inline]
    fn write_all(&mut self, text: &[u8]) -> io::Result<()> {
        Ok(self.push(text)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Write for AnswerText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// The body of a long text.
struct SegmentedBody {
    segments: vec::IntoIter<Bytes>,
    /// The bytes that are left.
    left: u64,
}

impl http_body::Body for SegmentedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let next = this.segments.next();
        this.left -= next.as_ref().map_or(0, |segment| segment.len() as u64);
        Poll::Ready(next.map(|segment| Ok(Frame::data(segment))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests;
