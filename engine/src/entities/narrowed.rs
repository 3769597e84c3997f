//! Finds the entities of a base with certain values of one property, without looking at each entity.

use std::cell::Cell;
use std::sync::{Arc, OnceLock, PoisonError};

use super::postings::{Postings, PropertyIndex, Row, RowSet};
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
/// The work of narrowing a type down, for each of its rows. Looking at all entities takes a hundred times as long.
const WORK_PER_ROW: usize = 4;
/// The work of narrowing a small type down: some tenths of a millisecond.
const MIN_WORK: usize = 1 << 16;
/// Testing a value costs as much as collecting this many rows.
const ROWS_PER_TEST: usize = 32;

/// The rows that narrowing may still collect.
#[derive(Debug)]
pub(crate) struct NarrowingWork(Cell<usize>);

impl NarrowingWork {
    /// Takes rows; `None` if too few are left.
    fn take(&self, rows: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(rows)?);
        Some(())
    }
}

/// The values of a property that a search asks for.
pub(crate) enum Sought<'q, 'v> {
    /// Scalars that equal one of these.
    Equal(&'q [AttributeValue<'v>]),
    /// Lists that contain this scalar, and scalars for which a function returns true.
    Containing(AttributeValue<'v>, &'q mut dyn FnMut(AttributeValue<'_>) -> bool),
    /// Lists that contain one of these scalars.
    WithItem(&'q [AttributeValue<'v>]),
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
    /// Returns the work that may be spent on narrowing a type down.
    pub(crate) fn narrowing_work(&self, entity_type: &str) -> NarrowingWork {
        let rows = self.base().for_type(entity_type).len();
        NarrowingWork(Cell::new(MIN_WORK.max(rows.saturating_mul(WORK_PER_ROW))))
    }

    /// Returns rows of the base that include each entity of the type whose property has a sought value. `None` if they are
    /// many, or if the table cannot say with the work that is left. Entities that lack the property are not among them.
    pub(crate) fn narrowed(
        &self,
        property: Property<'_>,
        sought: Sought<'_, '_>,
        work: &NarrowingWork,
    ) -> Option<RowSet> {
        let base = self.base();
        let Some(name) = property.name else {
            let Sought::Equal(values) = sought else { return None };
            let ids = values.iter().filter_map(|value| match value {
                AttributeValue::Text(id) => Some(*id),
                _ => None,
            });
            return row_set(rows_of_ids(base, property.entity_type, ids));
        };
        let of_type = base.for_type(property.entity_type);
        if of_type.len() <= FEW {
            return None;
        }
        // No entity of the base has a property of this name.
        let Some(name) = base.pool.texts.find(name) else { return Some(RowSet::new()) };
        let index = base.index(property.entity_type, name)?;
        // Made without the lock of the indexes: only who needs this one waits for it.
        let index = index.get_or_init(|| PropertyIndex::new(base.values_of(of_type, name)));
        let lists = lists_of_rows(base, index, sought, work)?;
        let count: usize = lists.iter().map(|rows| rows.len()).sum();
        if !self.is_selective(property.entity_type, count) {
            return None;
        }
        work.take(count)?;
        row_set(lists.concat())
    }

    /// Returns ids that include each entity of the type `of.0` whose property `of.1` has a sought value. `None` if they are more
    /// than `most`, or if too little work is left.
    pub(crate) fn ids_with<'t>(
        &'t self,
        of: (&str, &str),
        sought: Sought<'_, '_>,
        most: usize,
        work: &NarrowingWork,
    ) -> Option<Vec<&'t str>> {
        let (base, (entity_type, name)) = (self.base(), of);
        // What changed since the base was made may have any value.
        let mut ids: Vec<&str> = self.changed_ids(entity_type, most)?;
        if let Some(name) = base.pool.texts.find(name) {
            let of_type = base.for_type(entity_type);
            let index = base.index(entity_type, name)?;
            let index = index.get_or_init(|| PropertyIndex::new(base.values_of(of_type, name)));
            let lists = lists_of_rows(base, index, sought, work)?;
            let count: usize = lists.iter().map(|rows| rows.len()).sum();
            if ids.len() + count > most {
                return None;
            }
            work.take(count)?;
            ids.extend(lists.into_iter().flatten().map(|row| base.id(*row)));
        }
        Some(ids)
    }

    /// Returns the rows of the base with these ids. `None` if they are many, or if too little work is left.
    pub(crate) fn rows_of_ids(
        &self,
        entity_type: &str,
        ids: &[&str],
        work: &NarrowingWork,
    ) -> Option<RowSet> {
        if !self.is_selective(entity_type, ids.len()) {
            return None;
        }
        work.take(ids.len())?;
        row_set(rows_of_ids(self.base(), entity_type, ids.iter().copied()))
    }

    /// Returns whether this number of rows of a type is worth collecting.
    pub(crate) fn is_selective(&self, entity_type: &str, rows: usize) -> bool {
        rows <= FEW.max(self.base().for_type(entity_type).len() / SELECTIVE_SHARE)
    }

    /// Makes the indexes that the base of another table has.
    pub(super) fn index_as(&self, other: &Self) {
        let base = self.base();
        for (entity_type, name) in other.base().indexed() {
            let Some(known) = base.pool.texts.find(name) else { continue };
            if let Some(index) = base.index(entity_type, known) {
                let of_type = base.for_type(entity_type);
                index.get_or_init(|| PropertyIndex::new(base.values_of(of_type, known)));
            }
        }
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

    /// Returns each type and name of a property that has an index.
    fn indexed(&self) -> Vec<(&str, &str)> {
        let indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = &self.pool.texts;
        indexes.keys().map(|(of, name)| (texts.get(*of), texts.get(*name))).collect()
    }
}

fn rows_of_ids<'i>(
    base: &Segment,
    entity_type: &str,
    ids: impl Iterator<Item = &'i str>,
) -> Vec<Row> {
    ids.filter_map(|id| base.find(entity_type, id)).collect()
}

/// Returns the rows of each sought value. They may overlap. `None` if too little work is left to test all values.
fn lists_of_rows<'i>(
    base: &Segment,
    index: &'i PropertyIndex,
    sought: Sought<'_, '_>,
    work: &NarrowingWork,
) -> Option<Vec<&'i [Row]>> {
    let mut lists: Vec<&[Row]> = Vec::new();
    let holds = match sought {
        Sought::Equal(values) => {
            let rows = values.iter().map(|value| rows_of(base, &index.scalars, *value));
            return Some(rows.collect());
        }
        Sought::WithItem(items) => {
            let rows = items.iter().map(|item| rows_of(base, &index.items, *item));
            return Some(rows.collect());
        }
        Sought::Containing(item, holds) => {
            lists.push(rows_of(base, &index.items, item));
            holds
        }
        Sought::Where(holds) => {
            lists.push(&index.others);
            holds
        }
    };
    work.take(index.scalars.len().saturating_mul(ROWS_PER_TEST))?;
    let values = index.scalars.iter();
    let found = values.filter(|(word, _)| holds(base.pool.get(*word).into()));
    lists.extend(found.map(|(_, rows)| rows));
    Some(lists)
}

fn rows_of<'i>(base: &Segment, postings: &'i Postings, value: AttributeValue<'_>) -> &'i [Row] {
    word_of(base, value).map_or(&[], |word| postings.get(word))
}

/// Returns the word of a scalar; `None` if no entity has the value.
fn word_of(base: &Segment, value: AttributeValue<'_>) -> Option<Word> {
    match value {
        AttributeValue::Text(text) => base.pool.find_text(text),
        AttributeValue::Number(number) => base.pool.find_number(number),
        AttributeValue::Bool(value) => Some(Word::from_bool(value)),
        _ => None,
    }
}

fn row_set(mut rows: Vec<Row>) -> Option<RowSet> {
    // Lists that ascend follow each other: this sort merges them.
    rows.sort();
    rows.dedup();
    // Never an error, because the rows ascend.
    RowSet::from_sorted_iter(rows).ok()
}
