//! The attributes that a check carries, wherever they were read into.

use std::fmt;
use std::ops::Range;

use crate::json::{Json, Member};
use crate::value::{List, Value};

/// The attributes of a request: strings, numbers, booleans, and lists of strings or numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes<'r> {
    /// `user.*`
    pub user: AttributeMap<'r>,
    /// `resource.*`
    pub resource: AttributeMap<'r>,
}

/// Attributes by name; no name is there twice.
#[derive(Clone, Copy, Default)]
pub struct AttributeMap<'r> {
    tree: &'r [Member<'r>],
    flat: &'r [FlatAttribute<'r>],
    /// The items of the lists among `flat`.
    items: &'r [Json<'r>],
}

/// An attribute that was read without a tree.
#[derive(Clone, Debug)]
pub(crate) struct FlatAttribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: FlatValue<'a>,
}

/// Its value.
#[derive(Clone, Debug)]
pub(crate) enum FlatValue<'a> {
    Scalar(Json<'a>),
    /// Where the items stand.
    List(Range<u32>),
}

impl<'r> AttributeMap<'r> {
    /// The members of an object, all of which are of a type that an attribute may have.
    pub(crate) fn of_members(tree: &'r [Member<'r>]) -> Self {
        Self { tree, ..Self::default() }
    }

    pub(crate) fn of_flat(flat: &'r [FlatAttribute<'r>], items: &'r [Json<'r>]) -> Self {
        Self { flat, items, ..Self::default() }
    }

    /// Each name and value.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'r str, Value<'r>)> {
        let tree = self.tree.iter().map(|(name, value)| (&**name, Value::from(value)));
        let flat = self.flat.iter().map(move |attribute| {
            let value = match &attribute.value {
                FlatValue::Scalar(scalar) => Value::from(scalar),
                FlatValue::List(range) => Value::List(List::Json(self.items(range))),
            };
            (attribute.name, value)
        });
        tree.chain(flat)
    }

    /// The items of the list called `name`; a scalar is a list of one.
    pub(crate) fn as_list(self, name: &str) -> Option<&'r [Json<'r>]> {
        if let Some(attribute) = self.flat.iter().find(|attribute| attribute.name == name) {
            return Some(match &attribute.value {
                FlatValue::Scalar(scalar) => std::slice::from_ref(scalar),
                FlatValue::List(range) => self.items(range),
            });
        }
        let (_, value) = self.tree.iter().find(|(own, _)| own == name)?;
        Some(value.as_array().unwrap_or(std::slice::from_ref(value)))
    }

    fn items(self, range: &Range<u32>) -> &'r [Json<'r>] {
        &self.items[range.start as usize..range.end as usize]
    }
}

impl fmt::Debug for AttributeMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
