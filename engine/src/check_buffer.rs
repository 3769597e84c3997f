//! Reads a check or a batch from JSON text: a check without allocating. Allocation would be most of the cost of a decision.
//!
//! Nearly every check is *plain*: each known member at most once, strings without escapes, few attributes. The fast
//! path reads a plain text directly into a [`CheckBody`], or a batch into few pieces of memory, where a tree takes several
//! for each item. Every other text, and every faulty one, goes through the
//! tree of [`json::parse`], so that one place finds faults and words their messages. The tests compare both paths.

use crate::batch::{BatchBeside, BatchBody, BatchSemantic};
use crate::fields::{Fields, ReadBeside};
use crate::flat_attributes::FlatAttributes;
use crate::json::{self, Json, JsonError};
use crate::plain_check::PlainCheck;
use crate::plain_items::{self, PlainItem};
use crate::plain_text::{PlainText, fill};
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
        Ok(self.read_beside(text, nothing)?.0)
    }

    /// Reads the body of a check that may have more, which `beside` reads.
    ///
    /// # Errors
    /// Those of [`CheckBuffer::read`].
    pub fn read_beside<T>(
        &mut self,
        text: &'a [u8],
        beside: ReadBeside<T>,
    ) -> Result<(CheckBody<'_>, Option<T>), JsonError> {
        let plain = self.plain(|flat| read_plain(text, flat));
        match plain.and_then(|plain| plain.body(&self.flat)) {
            Some(body) => Ok((body, None)),
            None => {
                let tree = self.tree.insert(json::parse(text)?);
                Ok(CheckBody::parse_beside(tree, beside)?)
            }
        }
    }

    /// Reads the body of `POST /api/v1/checks`.
    ///
    /// # Errors
    /// The fault of the JSON text; or every missing, unknown or ill-typed field, by JSON pointer.
    pub fn read_batch(&mut self, text: &'a [u8]) -> Result<BatchBody<'_>, JsonError> {
        Ok(self.read_batch_beside(text, nothing)?.0)
    }

    /// Reads the body of a batch that may have more, and whose items may; `beside` reads it.
    ///
    /// # Errors
    /// Those of [`CheckBuffer::read_batch`].
    pub fn read_batch_beside<T>(
        &mut self,
        text: &'a [u8],
        beside: ReadBeside<T>,
    ) -> Result<(BatchBody<'_>, BatchBeside<T>), JsonError> {
        let plain = self.plain(|flat| PlainBatch::read(text, flat));
        match plain.and_then(|plain| plain.body(&self.flat)) {
            Some(body) => Ok((body, BatchBeside::default())),
            None => {
                let tree = self.tree.insert(json::parse(text)?);
                Ok(BatchBody::parse_beside(tree, beside)?)
            }
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

/// Reads nothing beside a check.
fn nothing(_: &mut Fields<'_, '_>) -> Option<()> {
    None
}

/// Reads a check; `None` if it is not plain or has a fault.
fn read_plain<'a>(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<PlainCheck<'a>> {
    let (mut text, mut check) = (PlainText::new(text)?, PlainCheck::default());
    text.object(|text, name| check.read_member(name, text, flat))?;
    text.end()?;
    Some(check)
}

/// A plain batch, whose attributes are in a buffer.
#[derive(Default)]
struct PlainBatch<'a> {
    semantic: Option<BatchSemantic>,
    defaults: PlainCheck<'a>,
    items: Option<Vec<PlainItem<'a>>>,
}

impl<'a> PlainBatch<'a> {
    /// Reads a batch; `None` if it is not plain or has a fault.
    fn read(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<Self> {
        flat.reserve_for(text.len());
        let (mut text, mut batch) = (PlainText::new(text)?, Self::default());
        text.object(|text, name| match name {
            "semantic" => fill(&mut batch.semantic, text.string()?.parse().ok()),
            "checks" => fill(&mut batch.items, plain_items::read(text, flat)),
            _ => batch.defaults.read_member(name, text, flat),
        })?;
        text.end()?;
        Some(batch)
    }

    /// Returns the body; `None` if an item is not complete.
    fn body<'b>(self, flat: &'b FlatAttributes<'a>) -> Option<BatchBody<'b>>
    where
        'a: 'b,
    {
        let items = plain_items::completed(self.items?, &self.defaults)?;
        Some(BatchBody::from_plain(self.semantic.unwrap_or_default(), items, flat))
    }
}
