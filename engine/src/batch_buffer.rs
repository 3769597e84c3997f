//! Reads a batch from JSON text without a tree.
//!
//! Nearly every batch is *plain*, as nearly every check is (`CheckBuffer`). Its items and their attributes are in few pieces of
//! memory, where a tree takes several for each item.

use crate::batch::{BatchBody, BatchSemantic};
use crate::fields::Body;
use crate::flat_attributes::FlatAttributes;
use crate::json::{self, Json, JsonError};
use crate::plain_check::PlainCheck;
use crate::plain_items::{self, PlainItem, PlainItems};
use crate::plain_text::{PlainText, fill};

/// The memory for one batch while it is read.
#[derive(Debug, Default)]
pub struct BatchBuffer<'a> {
    /// The attributes of a plain batch.
    flat: FlatAttributes<'a>,
    /// The tree of any other batch.
    tree: Option<Json<'a>>,
}

impl<'a> BatchBuffer<'a> {
    /// Reads the body of `POST /api/v1/checks`.
    ///
    /// # Errors
    /// The fault of the JSON text; or every missing, unknown or ill-typed field, by JSON pointer.
    pub fn read(&mut self, text: &'a [u8]) -> Result<BatchBody<'_>, JsonError> {
        self.flat.clear();
        let plain = read_plain(text, &mut self.flat);
        if plain.is_none() {
            // The tree takes as much again, and callers keep the buffer.
            self.flat = FlatAttributes::default();
        }
        match plain.and_then(|plain| plain.body(&self.flat)) {
            Some(body) => Ok(body),
            None => Ok(BatchBody::parse(self.tree.insert(json::parse(text)?))?),
        }
    }
}

/// A plain batch, whose attributes are in a buffer.
#[derive(Default)]
struct PlainBatch<'a> {
    semantic: Option<BatchSemantic>,
    defaults: PlainCheck<'a>,
    items: Option<Vec<PlainItem<'a>>>,
}

impl<'a> PlainBatch<'a> {
    /// Returns the body; `None` if an item is not complete.
    fn body<'b>(self, flat: &'b FlatAttributes<'a>) -> Option<BatchBody<'b>>
    where
        'a: 'b,
    {
        let items = PlainItems::new(self.items?, &self.defaults, flat)?;
        Some(BatchBody::from_plain(self.semantic.unwrap_or_default(), items))
    }
}

/// Reads a batch; `None` if it is not plain or has a fault.
fn read_plain<'a>(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<PlainBatch<'a>> {
    flat.reserve_for(text.len());
    let (mut text, mut batch) = (PlainText::new(text)?, PlainBatch::default());
    text.object(|text, name| match name {
        "semantic" => fill(&mut batch.semantic, text.string()?.parse().ok()),
        "checks" => fill(&mut batch.items, plain_items::read(text, flat)),
        _ => batch.defaults.read_member(name, text, flat),
    })?;
    text.end()?;
    Some(batch)
}
