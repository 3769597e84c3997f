//! The attributes of checks, one after the other in one piece of memory.

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlatRange {
    start: u32,
    end: u32,
}

/// An attribute among [`FlatAttributes`].
#[derive(Clone, Debug)]
struct FlatAttribute<'a> {
    name: Cow<'a, str>,
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

    /// Reads an object of strings, numbers, booleans, lists of strings and numbers, and `null`; `None` if it is another one,
    /// has a name twice, or has many names.
    pub fn read(&mut self, text: &mut PlainText<'a>) -> Option<FlatRange> {
        let start = self.attributes.len();
        text.object(|text, name| {
            let known = self.attributes.get(start..)?;
            if known.len() == MAX_NAMES || known.iter().any(|known| known.name == name) {
                return None;
            }
            let value = self.value(text)?;
            self.attributes.push(FlatAttribute { name: name.into(), value });
            Some(())
        })?;
        self.range_from(start)
    }

    /// Adds values of a tree, in which no name occurs twice. `null` is an absent attribute; an object, and a list of anything but
    /// strings and numbers, is a present one that no operator compares. `None` if there are too many in all.
    pub fn add(
        &mut self,
        members: impl IntoIterator<Item = (Cow<'a, str>, &'a Json<'a>)>,
    ) -> Option<FlatRange> {
        let start = self.attributes.len();
        for (name, value) in members {
            let value = self.tree_value(value)?;
            self.attributes.push(FlatAttribute { name, value });
        }
        self.range_from(start)
    }

    /// Returns the names at `range` with their values; `None` is `null`.
    #[inline]
    pub(crate) fn named(
        &'a self,
        range: FlatRange,
    ) -> impl Iterator<Item = (&'a str, Option<AttributeValue<'a>>)> {
        self.at(range).iter().map(|attribute| (&*attribute.name, attribute.value(&self.items)))
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

    /// Returns the value of the attribute `name` at `range`: `None` if nothing has the name. The value of `null` is `None`.
    #[inline]
    pub(crate) fn find(
        &'a self,
        range: FlatRange,
        name: &str,
    ) -> Option<Option<AttributeValue<'a>>> {
        let found = self.at(range).iter().find(|attribute| attribute.name == name)?;
        Some(found.value(&self.items))
    }

    /// Returns whether an attribute at `range` has the name `name`.
    pub fn has(&self, range: FlatRange, name: &str) -> bool {
        self.at(range).iter().any(|attribute| attribute.name == name)
    }

    /// Returns the text of the attribute `name` at `range`; the inner `None` if it is not a borrowed text.
    pub fn text(&self, range: FlatRange, name: &str) -> Option<Option<&'a str>> {
        let found = self.at(range).iter().find(|attribute| attribute.name == name)?;
        match &found.value {
            FlatValue::Scalar(Json::Null) => None,
            FlatValue::Scalar(Json::String(Cow::Borrowed(text))) => Some(Some(text)),
            _ => Some(None),
        }
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
        self.attributes.push(FlatAttribute { name: name.into(), value: text_value(text) });
        is_last.then_some(FlatRange { end: range.end.checked_add(1)?, ..range })
    }

    /// Removes the attributes with these names at `range`, which has the last attributes; `None` if it has not.
    pub fn remove(&mut self, range: FlatRange, names: &[&str]) -> Option<FlatRange> {
        let start = range.start as usize;
        if range.end as usize != self.attributes.len() {
            return None;
        }
        // From the last one on: each removal moves those behind it.
        for index in (start..self.attributes.len()).rev() {
            if self.attributes.get(index).is_some_and(|own| names.contains(&&*own.name)) {
                self.attributes.remove(index);
            }
        }
        self.range_from(start)
    }

    /// Replaces the value of the attribute `name` at `range`, which is one of its last two, by a text.
    pub fn set_text(&mut self, range: FlatRange, name: &str, text: &'a str) {
        let range = range.start as usize..range.end as usize;
        let own = self.attributes.get_mut(range).unwrap_or_default();
        if let Some(found) = own.iter_mut().rev().take(2).find(|found| found.name == name) {
            found.value = text_value(text);
        }
    }

    fn range_from(&self, start: usize) -> Option<FlatRange> {
        Some(FlatRange { start: place(start)?, end: place(self.attributes.len())? })
    }

    fn tree_value(&mut self, value: &'a Json<'a>) -> Option<FlatValue<'a>> {
        Some(match value {
            Json::Null => FlatValue::Scalar(Json::Null),
            Json::Array(items) if items.iter().all(is_text_or_number) => {
                let start = place(self.items.len())?;
                self.items.reserve(self.items.len() + items.len());
                items.iter().filter_map(Json::as_scalar).for_each(|item| self.items.push(item));
                FlatValue::List(start..place(self.items.len())?)
            }
            // Stands for any value that no operator compares. The empty object takes no memory.
            _ => FlatValue::Scalar(value.as_scalar().unwrap_or(Json::Object(Vec::new()))),
        })
    }

    fn at(&self, range: FlatRange) -> &[FlatAttribute<'a>] {
        self.attributes.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    #[inline]
    fn value(&mut self, text: &mut PlainText<'a>) -> Option<FlatValue<'a>> {
        Some(FlatValue::Scalar(match text.peek()? {
            b'[' => {
                let start = place(self.items.len())?;
                text.array(|text| {
                    self.items.push(text.string_or_number()?);
                    Some(())
                })?;
                return Some(FlatValue::List(start..place(self.items.len())?));
            }
            b't' | b'f' => Json::Bool(text.boolean()?),
            b'n' => text.null()?,
            _ => text.string_or_number()?,
        }))
    }
}

impl<'a> FlatAttribute<'a> {
    /// Returns the value; `None` if the attribute is absent, although it is named.
    #[inline]
    fn value(&'a self, items: &'a [Json<'a>]) -> Option<AttributeValue<'a>> {
        match &self.value {
            FlatValue::Scalar(Json::Null) => None,
            FlatValue::Scalar(scalar) => Some(AttributeValue::from(scalar)),
            FlatValue::List(range) => Some(AttributeValue::List(List::Json(at(items, range)))),
        }
    }
}

/// Returns the items of a list.
#[inline]
fn at<'i, 'a>(items: &'i [Json<'a>], range: &Range<u32>) -> &'i [Json<'a>] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

fn is_text_or_number(item: &Json<'_>) -> bool {
    matches!(item, Json::String(_) | Json::Number(_))
}

fn text_value(text: &str) -> FlatValue<'_> {
    FlatValue::Scalar(Json::String(text.into()))
}

fn place(index: usize) -> Option<u32> {
    index.try_into().ok()
}
