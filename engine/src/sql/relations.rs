//! The relations of a known subject to rows, as the caller found them in its graph.

use std::collections::HashMap;
use std::sync::Arc;

use crate::condition::AttributePath;

/// The ids of objects of one type. Clones share them.
pub type ObjectIds = Arc<[Box<str>]>;

/// The relations of the subject to rows, by the name of the relation; a text says why one has no exact form.
#[derive(Clone, Debug, Default)]
pub struct RowRelations(pub(super) HashMap<Box<str>, Result<RowRelation, String>>);

/// A relation of the subject to each row that has a `resource.id`.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRelation {
    /// The rows to which the subject has it.
    pub rows: RelatedRows,
    /// The attributes that stand for stored edges. A value that is not a reference makes the relation undetermined.
    pub references: Vec<RowReference>,
    /// The reason why the relation is undetermined for some of the other rows; `None` if it is not.
    pub doubt: Option<String>,
}

/// The rows to which a subject has a relation.
#[derive(Clone, Debug, PartialEq)]
pub enum RelatedRows {
    /// Rows whose `resource.id` is one of these.
    Ids(ObjectIds),
    /// Rows whose attribute refers to one of these objects.
    Referring {
        /// The attribute.
        attribute: AttributePath,
        /// The ids of the objects, by type.
        objects: Vec<(Box<str>, ObjectIds)>,
    },
    /// Rows of one of these; none if there is nothing.
    Any(Vec<Self>),
    /// Rows of all of these; every row if there is nothing.
    All(Vec<Self>),
    /// All other rows.
    Not(Box<Self>),
}

/// An attribute of rows that stands for stored edges.
#[derive(Clone, Debug, PartialEq)]
pub struct RowReference {
    /// The attribute.
    pub attribute: AttributePath,
    /// The types of the objects to which it can refer.
    pub types: Vec<Box<str>>,
    /// The rows, by `resource.id`, whose stored edges go before the attribute.
    pub stored: ObjectIds,
}

impl RelatedRows {
    /// Returns no rows.
    pub fn none() -> Self {
        Self::Any(Vec::new())
    }

    /// Returns whether there are certainly no rows.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Any(parts) if parts.is_empty())
    }
}

impl RowRelations {
    /// Adds a relation, or the reason why it has no exact form.
    pub fn insert(&mut self, name: &str, relation: Result<RowRelation, String>) {
        self.0.insert(name.into(), relation);
    }
}
