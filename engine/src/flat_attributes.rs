//! The attributes of checks that are read without a tree, one after the other in one piece of memory.

use std::borrow::Cow;
use std::ops::Range;

use crate::growing::Growing;
use crate::json::Json;
use crate::plain_text::PlainText;
use crate::value::{AttributeValue, List};

/// The attributes, and the items of lists, that take no allocation. Few checks have more.
const MAX_INLINE: usize = 16;
/// The most attributes of one object. Comparing all pairs of so many names is faster than hashing them.
const MAX_NAMES: usize = 32;

/// The attributes of checks, and the items of all their lists.
#[derive(Debug, Default)]
pub struct FlatAttributes<'a> {
    attributes: Growing<FlatAttribute<'a>, MAX_INLINE>,
    items: Growing<Json<'a>, MAX_INLINE>,
}

/// The place of the attributes of one object among [`FlatAttributes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlatRange {
    start: u32,
    end: u32,
}

/// An attribute that was read without a tree.
#[derive(Clone, Debug)]
struct FlatAttribute<'a> {
    name: &'a str,
    value: FlatValue<'a>,
}

/// The value of a [`FlatAttribute`].
#[derive(Clone, Debug)]
enum FlatValue<'a> {
    Scalar(Json<'a>),
    /// The range of the items.
    List(Range<u32>),
}

impl<'a> FlatAttributes<'a> {
    /// Makes room for the attributes of many checks in a text of this length.
    pub fn reserve_for(&mut self, text: usize) {
        // A check takes some 50 bytes of text for each attribute.
        self.attributes.reserve(text / 50);
    }

    /// Forgets all attributes.
    pub fn clear(&mut self) {
        self.attributes.clear();
        self.items.clear();
    }

    /// Reads an object of strings, numbers, booleans, and lists of strings and numbers; `None` if it is another one, has a
    /// name twice, or has many names.
    pub fn read(&mut self, text: &mut PlainText<'a>) -> Option<FlatRange> {
        let start = self.attributes.len();
        text.object(|text, name| {
            let known = self.attributes.get(start..)?;
            if known.len() == MAX_NAMES || known.iter().any(|known| known.name == name) {
                return None;
            }
            let value = self.value(text)?;
            self.attributes.push(FlatAttribute { name, value });
            Some(())
        })?;
        Some(FlatRange { start: place(start)?, end: place(self.attributes.len())? })
    }

    /// Returns the names and values at `range`.
    #[inline]
    pub(crate) fn iter(&'a self, range: FlatRange) -> FlatIter<'a> {
        FlatIter { attributes: self.at(range).iter(), items: &self.items }
    }

    /// Returns the items of the list `name` at `range`; a scalar is a list of one.
    #[inline]
    pub(crate) fn as_list(&self, range: FlatRange, name: &str) -> Option<&[Json<'a>]> {
        let attribute = self.at(range).iter().find(|attribute| attribute.name == name)?;
        Some(match &attribute.value {
            FlatValue::Scalar(scalar) => std::slice::from_ref(scalar),
            FlatValue::List(range) => at(&self.items, range),
        })
    }

    /// Returns whether an attribute at `range` has the name `name`.
    pub fn has(&self, range: FlatRange, name: &str) -> bool {
        self.at(range).iter().any(|attribute| attribute.name == name)
    }

    /// Returns the text of the attribute `name` at `range`; the inner `None` if it is no text.
    pub fn text(&self, range: FlatRange, name: &str) -> Option<Option<&'a str>> {
        let found = self.at(range).iter().find(|attribute| attribute.name == name)?;
        Some(match &found.value {
            FlatValue::Scalar(Json::String(Cow::Borrowed(text))) => Some(text),
            _ => None,
        })
    }

    /// Returns the place behind the last attribute, with no attribute in it.
    pub fn nothing(&self) -> Option<FlatRange> {
        let end = place(self.attributes.len())?;
        Some(FlatRange { start: end, end })
    }

    /// Adds an attribute behind the last one, which is the last of `range`; `None` if it is not.
    pub fn add_text(
        &mut self,
        range: FlatRange,
        name: &'a str,
        text: &'a str,
    ) -> Option<FlatRange> {
        let is_last = range.end as usize == self.attributes.len();
        self.attributes.push(FlatAttribute { name, value: text_value(text) });
        is_last.then_some(FlatRange { end: range.end.checked_add(1)?, ..range })
    }

    /// Replaces the value of the attribute `name` at `range`, which is one of its last two, by a text.
    pub fn set_text(&mut self, range: FlatRange, name: &str, text: &'a str) {
        let range = range.start as usize..range.end as usize;
        let own = self.attributes.get_mut(range).unwrap_or_default();
        if let Some(found) = own.iter_mut().rev().take(2).find(|found| found.name == name) {
            found.value = text_value(text);
        }
    }

    fn at(&self, range: FlatRange) -> &[FlatAttribute<'a>] {
        self.attributes.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    #[inline]
    fn value(&mut self, text: &mut PlainText<'a>) -> Option<FlatValue<'a>> {
        if text.is_at_array() {
            let start = place(self.items.len())?;
            text.array(|text| {
                self.items.push(text.string_or_number()?);
                Some(())
            })?;
            return Some(FlatValue::List(start..place(self.items.len())?));
        }
        if text.is_at_boolean() {
            return Some(FlatValue::Scalar(Json::Bool(text.boolean()?)));
        }
        Some(FlatValue::Scalar(text.string_or_number()?))
    }
}

/// The names and values of a range.
pub(crate) struct FlatIter<'a> {
    attributes: std::slice::Iter<'a, FlatAttribute<'a>>,
    items: &'a [Json<'a>],
}

impl<'a> FlatAttribute<'a> {
    #[inline]
    fn read(&'a self, items: &'a [Json<'a>]) -> (&'a str, AttributeValue<'a>) {
        let value = match &self.value {
            FlatValue::Scalar(scalar) => AttributeValue::from(scalar),
            FlatValue::List(range) => AttributeValue::List(List::Json(at(items, range))),
        };
        (self.name, value)
    }
}

impl<'a> Iterator for FlatIter<'a> {
    type Item = (&'a str, AttributeValue<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.attributes.next().map(|attribute| attribute.read(self.items))
    }

    // A loop by it is faster than by `next`, which makes an option for each attribute.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        self.attributes.fold(init, |all, attribute| f(all, attribute.read(self.items)))
    }
}

/// Returns the items of a list.
#[inline]
fn at<'i, 'a>(items: &'i [Json<'a>], range: &Range<u32>) -> &'i [Json<'a>] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

fn text_value(text: &str) -> FlatValue<'_> {
    FlatValue::Scalar(Json::String(text.into()))
}

fn place(index: usize) -> Option<u32> {
    index.try_into().ok()
}
