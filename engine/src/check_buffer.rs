//! Reads a check or a batch from JSON text: a check without allocating. Allocation would be most of the cost of a decision.
//!
//! Nearly every check is *plain*: each known member at most once, strings without escapes, few attributes. The fast
//! path reads a plain text directly into a [`CheckBody`]. Every other text, and every faulty one, goes through the
//! tree of [`json::parse`], so that one place finds faults and words their messages. The tests compare both paths.

use crate::batch::BatchBody;
use crate::fields::Body;
use crate::flat_attributes::FlatAttributes;
use crate::json::{self, Json, JsonError};
use crate::plain_batch::PlainBatch;
use crate::plain_check::PlainCheck;
use crate::plain_text::PlainText;
use crate::request::CheckBody;

/// The memory for one check, or one batch, while it is read.
///
/// ```
/// use portcullis_engine::CheckBuffer;
///
/// let mut buffer = CheckBuffer::default();
/// let body = buffer.read(br#"{"subject": "ann", "resource": "wiki:read", "action": "read"}"#)?;
/// assert_eq!(body.subject, "ann");
/// # Ok::<(), portcullis_engine::json::JsonError>(())
/// ```
#[derive(Debug, Default)]
pub struct CheckBuffer<'a> {
    /// The attributes of a plain text.
    flat: FlatAttributes<'a>,
    /// The tree of any other text.
    tree: Option<Json<'a>>,
}

impl<'a> CheckBuffer<'a> {
    /// Reads the body of `POST /api/v1/check`.
    ///
    /// # Errors
    /// The fault of the JSON text; or every missing, unknown or ill-typed field, by JSON pointer.
    pub fn read(&mut self, text: &'a [u8]) -> Result<CheckBody<'_>, JsonError> {
        let plain = self.plain(|flat| read_plain(text, flat));
        match plain.and_then(|plain| plain.body(&self.flat)) {
            Some(body) => Ok(body),
            None => Ok(CheckBody::parse(self.tree.insert(json::parse(text)?))?),
        }
    }

    /// Reads the body of `POST /api/v1/checks`.
    ///
    /// # Errors
    /// The fault of the JSON text; or every missing, unknown or ill-typed field, by JSON pointer.
    pub fn read_batch(&mut self, text: &'a [u8]) -> Result<BatchBody<'_>, JsonError> {
        let plain = self.plain(|flat| PlainBatch::read(text, flat));
        match plain.and_then(|plain| plain.body(&self.flat)) {
            Some(body) => Ok(body),
            None => Ok(BatchBody::parse(self.tree.insert(json::parse(text)?))?),
        }
    }

    /// Reads a plain text; `None` if it is not plain or has a fault.
    fn plain<T>(&mut self, read: impl FnOnce(&mut FlatAttributes<'a>) -> Option<T>) -> Option<T> {
        self.flat.clear();
        let plain = read(&mut self.flat);
        if plain.is_none() {
            // The tree takes as much again, and callers keep the buffer.
            self.flat = FlatAttributes::default();
        }
        plain
    }
}

/// Reads a check; `None` if it is not plain or has a fault.
fn read_plain<'a>(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<PlainCheck<'a>> {
    let (mut text, mut check) = (PlainText::new(text)?, PlainCheck::default());
    text.object(|text, name| check.read_member(name, text, flat))?;
    text.end()?;
    Some(check)
}
