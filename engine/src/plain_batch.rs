//! A batch that is read from JSON text without a tree.
//!
//! Nearly every batch is *plain*, as nearly every check is (`CheckBuffer`). Its items and their attributes are in few pieces of
//! memory, where a tree takes several for each item.

use crate::batch::{BatchBody, BatchSemantic};
use crate::flat_attributes::FlatAttributes;
use crate::plain_check::PlainCheck;
use crate::plain_items::{self, PlainItem, PlainItems};
use crate::plain_text::{PlainText, fill};

/// A plain batch, whose attributes are in a buffer.
#[derive(Default)]
pub(crate) struct PlainBatch<'a> {
    semantic: Option<BatchSemantic>,
    defaults: PlainCheck<'a>,
    items: Option<Vec<PlainItem<'a>>>,
}

impl<'a> PlainBatch<'a> {
    /// Reads a batch; `None` if it is not plain or has a fault.
    pub(crate) fn read(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<Self> {
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
    pub(crate) fn body<'b>(self, flat: &'b FlatAttributes<'a>) -> Option<BatchBody<'b>>
    where
        'a: 'b,
    {
        let items = PlainItems::new(self.items?, &self.defaults, flat)?;
        Some(BatchBody::from_plain(self.semantic.unwrap_or_default(), items))
    }
}
