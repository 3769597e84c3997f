//! The properties of AuthZEN entities and contexts, as attributes.

use portcullis_engine::Json;
use portcullis_engine::flat_attributes::{FlatAttributes, FlatRange};
use portcullis_engine::invalid::Place;
use portcullis_engine::plain_text::PlainText;
use portcullis_engine::source::{Source, Tree};
use portcullis_model::relation::{AssumedTuples, RELATIONS};

use super::flatten::{MAX_NAMES, NameBudget, flattened};

/// The attributes of all entities and contexts of a request.
#[derive(Debug, Default)]
pub(super) struct Properties<'a> {
    pub(super) flat: FlatAttributes<'a>,
    names: NameBudget,
    /// The tuples that contexts assume.
    pub(super) assumed: Vec<AssumedTuples>,
    /// Whether tuples in a context are assumed; else they are an attribute.
    are_assumed: bool,
}

impl Properties<'_> {
    /// Returns those of a request for decisions, whose contexts may assume tuples.
    pub(super) fn of_decisions() -> Self {
        Self { are_assumed: true, ..Self::default() }
    }
}

/// JSON whose objects are read as attributes.
pub(super) trait PropertySource<'a>: Source<'a> {
    /// Reads an object as attributes.
    fn properties(&mut self, at: &Place<'_>, properties: &mut Properties<'a>) -> Option<FlatRange>;

    /// Reads the tuples that a context at `at` assumes, and takes them from its `attributes`, which are the last ones. Returns
    /// the number of their list; the inner `None` if `relations` is an attribute, or absent.
    fn assumed(
        &mut self,
        at: &Place<'_>,
        attributes: &mut FlatRange,
        properties: &mut Properties<'a>,
    ) -> Option<Option<u32>>;
}

impl<'a> PropertySource<'a> for PlainText<'a> {
    #[inline]
    fn properties(&mut self, _: &Place<'_>, properties: &mut Properties<'a>) -> Option<FlatRange> {
        properties.flat.read(self)
    }

    #[inline]
    fn assumed(
        &mut self,
        _: &Place<'_>,
        _: &mut FlatRange,
        _: &mut Properties<'a>,
    ) -> Option<Option<u32>> {
        // A list with an object in it is not plain.
        Some(None)
    }
}

impl<'a> PropertySource<'a> for Tree<'a, '_> {
    fn properties(&mut self, at: &Place<'_>, properties: &mut Properties<'a>) -> Option<FlatRange> {
        let (json, problems) = self.tree()?;
        let Some(members) = json.as_object() else {
            problems.expected(at, format!("an object, not {}", json.kind()));
            return None;
        };
        let Some(found) = flattened(members, &mut properties.names) else {
            let about = format!("paths of nested members with at most {MAX_NAMES} bytes together");
            problems.expected(at, about);
            return None;
        };
        properties.flat.add(found)
    }

    fn assumed(
        &mut self,
        at: &Place<'_>,
        attributes: &mut FlatRange,
        properties: &mut Properties<'a>,
    ) -> Option<Option<u32>> {
        let (json, problems) = self.tree()?;
        // A list without an object is an attribute of the caller's own, and no tuples.
        let Some(list) =
            json.get(RELATIONS).filter(|list| properties.are_assumed && has_object(list))
        else {
            return Some(None);
        };
        let list = AssumedTuples::read(list, &at.key(RELATIONS), problems)?;
        *attributes = properties.flat.remove(*attributes, &[RELATIONS])?;
        properties.assumed.push(list);
        Some(u32::try_from(properties.assumed.len() - 1).ok())
    }
}

fn has_object(list: &Json<'_>) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item.as_object().is_some()))
}
