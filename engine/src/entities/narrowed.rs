//! Finds the entities of a base with certain values of one property, without looking at each entity.

use std::sync::{Arc, OnceLock, PoisonError};

use super::postings::{PropertyIndex, Row};
use super::segment::Segment;
use super::table::EntityTable;
use crate::packed::{TextId, Word};
use crate::value::AttributeValue;

/// The maximum number of indexed properties of one base. Each takes some ten bytes for each entity.
const MAX_INDEXES: usize = 16;
/// Looking at each of at most this many entities is faster than making an index.
const FEW: usize = 100;

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
    /// value. `None` if the table cannot say without looking at each entity. Never includes all entities that lack the
    /// property.
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
        let index = base.index(property.entity_type, name)?;
        let index = index.get_or_init(|| {
            PropertyIndex::new(base.values_of(base.of_type(property.entity_type), name))
        });
        Some(rows(base, index, sought))
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

fn rows(base: &Segment, index: &PropertyIndex, sought: Sought<'_, '_>) -> Vec<Row> {
    let mut rows = Vec::new();
    match sought {
        Sought::Equal(values) => {
            for value in values {
                rows.extend_from_slice(
                    word_of(base, *value).map_or(&[], |word| index.scalars.of(word)),
                );
            }
        }
        Sought::Containing(item, holds) => {
            rows.extend_from_slice(word_of(base, item).map_or(&[], |word| index.items.of(word)));
            rows.extend(rows_where(base, index, holds));
        }
        Sought::Where(holds) => {
            rows.extend(rows_where(base, index, holds));
            rows.extend_from_slice(&index.others);
        }
    }
    in_order(rows)
}

/// Returns the rows of the scalars for which a function returns true. Calls it once for each value.
fn rows_where(
    base: &Segment,
    index: &PropertyIndex,
    holds: &mut dyn FnMut(AttributeValue<'_>) -> bool,
) -> Vec<Row> {
    let values = index.scalars.iter();
    let found = values.filter(|(word, _)| holds(base.pool.get(*word).into()));
    found.flat_map(|(_, rows)| rows).copied().collect()
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
