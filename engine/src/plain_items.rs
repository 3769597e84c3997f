//! The items of a batch that are read without a tree.

use crate::fields::within;
use crate::flat_attributes::FlatAttributes;
use crate::plain_check::PlainCheck;
use crate::plain_text::{PlainText, fill};

/// The most items of a batch. So many take about 10 ms, which other requests of the thread wait for.
pub const MAX_ITEMS: usize = 10_000;
/// The maximum length of the id of an item, in characters.
pub const MAX_ITEM_ID: usize = 256;
/// Bytes of text for which an item has room from the start.
const SHORT_ITEM: usize = 64;

/// A check of a plain batch, and its id.
#[derive(Debug, Default)]
pub(crate) struct PlainItem<'r> {
    pub(crate) check: PlainCheck<'r>,
    pub(crate) id: Option<&'r str>,
}

/// Returns `items` with the members of `defaults` that they lack; `None` if a required one is missing in both.
pub(crate) fn completed<'r>(
    mut items: Vec<PlainItem<'r>>,
    defaults: &PlainCheck<'r>,
) -> Option<Vec<PlainItem<'r>>> {
    for item in &mut items {
        item.check = item.check.or(defaults);
        item.check.is_complete().then_some(())?;
    }
    Some(items)
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
        // One item too many is enough to give up: the tree words the fault.
        (items.len() <= MAX_ITEMS).then_some(())
    })?;
    (!items.is_empty()).then_some(items)
}
