//! Finds the entities of a base with certain values of one property, without looking at each entity.

use std::sync::{Arc, OnceLock, PoisonError};

use super::postings::{Postings, PropertyIndex, Row};
use super::segment::Segment;
use super::table::EntityTable;
use crate::packed::{TextId, Word};
use crate::value::AttributeValue;

/// The maximum number of indexed properties of one base. Each takes some ten bytes for each entity.
const MAX_INDEXES: usize = 16;
/// Looking at each of at most this many entities is faster than making an index.
const FEW: usize = 100;

/// Rows that are more than this share of a type are not worth collecting: looking at each entity is as fast.
const SELECTIVE_SHARE: usize = 4;

/// The values of a property that a search asks for.
pub(crate) enum Sought<'q, 'v> {
    /// Scalars that equal one of these.
    Equal(&'q [AttributeValue<'v>]),
    /// Lists that contain this scalar, and scalars for which a function returns true.
    Containing(AttributeValue<'v>, &'q mut dyn FnMut(AttributeValue<'_>) -> bool),
    /// Scalars for which a function returns true, and every list.
    Where(&'q mut dyn FnMut(AttributeValue<'_>) -> bool),
}

/// A property of a type.
#[derive(Clone, Copy)]
pub(crate) struct Property<'q> {
    pub(crate) entity_type: &'q str,
    /// `None` is the id.
    pub(crate) name: Option<&'q str>,
}

impl EntityTable {
    /// Returns rows of the base, in ascending order, that include each entity of the type whose property has a sought
    /// value. `None` if they are many, or if the table cannot say without looking at each entity. Entities that lack the
    /// property are not among them.
    pub(crate) fn narrowed(
        &self,
        property: Property<'_>,
        sought: Sought<'_, '_>,
    ) -> Option<Vec<Row>> {
        let base = self.base();
        let Some(name) = property.name else {
            let Sought::Equal(values) = sought else { return None };
            return Some(rows_of_ids(base, property.entity_type, values));
        };
        if base.of_type(property.entity_type).len() <= FEW {
            return None;
        }
        let Some(name) = base.pool.texts.find(name) else { return Some(Vec::new()) };
        let most = self.most_narrowed(property.entity_type);
        let of_type = base.of_type(property.entity_type);
        let index = base.index(property.entity_type, name)?;
        let index = index.get_or_init(|| PropertyIndex::new(base.values_of(of_type, name)));
        let lists = lists_of_rows(base, index, sought);
        let count: usize = lists.iter().map(|rows| rows.len()).sum();
        (count <= most).then(|| in_order(lists.concat()))
    }

    /// Returns the number of rows of a type from which on looking at each entity is as fast.
    pub(crate) fn most_narrowed(&self, entity_type: &str) -> usize {
        self.base().of_type(entity_type).len() / SELECTIVE_SHARE
    }
}

impl Segment {
    /// Returns the place of the index of a property. `None` if there are too many.
    fn index(&self, entity_type: &str, name: TextId) -> Option<Arc<OnceLock<PropertyIndex>>> {
        let entity_type = self.pool.texts.find(entity_type)?;
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = indexes.get(&(entity_type, name)) {
            return Some(Arc::clone(known));
        }
        (indexes.len() < MAX_INDEXES)
            .then(|| Arc::clone(indexes.entry((entity_type, name)).or_default()))
    }
}

fn rows_of_ids(base: &Segment, entity_type: &str, ids: &[AttributeValue<'_>]) -> Vec<Row> {
    let found = ids.iter().filter_map(|id| match id {
        AttributeValue::Text(id) => base.find(entity_type, id),
        _ => None,
    });
    in_order(found.collect())
}

/// Returns the rows of each sought value. They may overlap.
fn lists_of_rows<'i>(
    base: &Segment,
    index: &'i PropertyIndex,
    sought: Sought<'_, '_>,
) -> Vec<&'i [Row]> {
    let of = |postings: &'i Postings, value| {
        word_of(base, value).map_or(&[] as &[Row], |word| postings.of(word))
    };
    let mut lists: Vec<&[Row]> = Vec::new();
    let holds = match sought {
        Sought::Equal(values) => {
            return values.iter().map(|value| of(&index.scalars, *value)).collect();
        }
        Sought::Containing(item, holds) => {
            lists.push(of(&index.items, item));
            holds
        }
        Sought::Where(holds) => {
            lists.push(&index.others);
            holds
        }
    };
    let values = index.scalars.iter();
    let found = values.filter(|(word, _)| holds(base.pool.get(*word).into()));
    lists.extend(found.map(|(_, rows)| rows));
    lists
}

/// Returns the word of a scalar; `None` if no entity has the value.
fn word_of(base: &Segment, value: AttributeValue<'_>) -> Option<Word> {
    match value {
        AttributeValue::Text(text) => base.pool.find_text(text),
        AttributeValue::Number(number) => base.pool.find_number(number),
        AttributeValue::Bool(value) => Some(Word::of_bool(value)),
        _ => None,
    }
}

fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    if !rows.is_sorted_by(|a, b| a < b) {
        rows.sort_unstable();
        rows.dedup();
    }
    rows
}
