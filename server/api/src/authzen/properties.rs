//! The properties of AuthZEN entities and contexts, as attributes.

use portcullis_engine::flat_attributes::{FlatAttributes, FlatRange};
use portcullis_engine::invalid::Place;
use portcullis_engine::plain_text::PlainText;
use portcullis_engine::source::{Source, Tree};

use super::flatten::{MAX_NAMES, NameBudget, flattened};

/// The attributes of all entities and contexts of a request.
#[derive(Debug, Default)]
pub(super) struct Properties<'a> {
    pub(super) flat: FlatAttributes<'a>,
    names: NameBudget,
}

/// JSON whose objects are read as attributes.
pub(super) trait PropertySource<'a>: Source<'a> {
    /// Reads an object as attributes.
    fn properties(&mut self, at: &Place<'_>, properties: &mut Properties<'a>) -> Option<FlatRange>;
}

impl<'a> PropertySource<'a> for PlainText<'a> {
    #[inline]
    fn properties(&mut self, _: &Place<'_>, properties: &mut Properties<'a>) -> Option<FlatRange> {
        properties.flat.read(self)
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
}
