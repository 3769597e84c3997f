//! The items of a batch that are read without a tree.

use crate::batch_limits::{MAX_ITEM_ID, MAX_ITEMS};
use crate::fields::within;
use crate::flat_attributes::FlatAttributes;
use crate::plain_check::PlainCheck;
use crate::plain_text::{PlainText, fill};
use crate::request::CheckBody;

/// Bytes of text for which an item has room from the start.
const SHORT_ITEM: usize = 64;

/// The items of a plain batch, whose attributes are in a buffer.
#[derive(Debug)]
pub(crate) struct PlainItems<'r> {
    items: Vec<PlainItem<'r>>,
    flat: &'r FlatAttributes<'r>,
}

/// A check of a plain batch, and its id.
#[derive(Debug, Default)]
pub(crate) struct PlainItem<'r> {
    check: PlainCheck<'r>,
    id: Option<&'r str>,
}

impl<'r> PlainItems<'r> {
    /// Returns `items` with the members of `defaults` that they lack; `None` if a required one is missing in both.
    pub(crate) fn new(
        mut items: Vec<PlainItem<'r>>,
        defaults: &PlainCheck<'r>,
        flat: &'r FlatAttributes<'r>,
    ) -> Option<Self> {
        for item in &mut items {
            item.check = item.check.or(defaults);
            item.check.is_complete().then_some(())?;
        }
        Some(Self { items, flat })
    }

    pub(crate) fn count(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(crate) fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        self.items.get(index)?.check.body(self.flat)
    }

    pub(crate) fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        self.items.get(index)?.check.scope()
    }

    pub(crate) fn id(&self, index: usize) -> Option<&str> {
        self.items.get(index)?.id
    }
}

/// Reads the items of a batch without the defaults; `None` if they are not plain, or too few or too many.
pub(crate) fn read<'a>(
    text: &mut PlainText<'a>,
    flat: &mut FlatAttributes<'a>,
) -> Option<Vec<PlainItem<'a>>> {
    let mut items = Vec::with_capacity((text.remaining() / SHORT_ITEM + 1).min(MAX_ITEMS));
    text.array(|text| {
        let mut item = PlainItem::default();
        text.object(|text, name| match name {
            "id" => fill(&mut item.id, text.string().filter(|id| within(id, MAX_ITEM_ID))),
            _ => item.check.read_member(name, text, flat),
        })?;
        items.push(item);
        (items.len() <= MAX_ITEMS).then_some(())
    })?;
    (!items.is_empty()).then_some(items)
}
