//! A sorted, immutable set of entities in few allocations.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::postings::{PropertyIndex, Row};

use crate::packed::{Packed, Pool, TextId, Texts, Word};
use crate::value::AttributeValue;

/// The record of an entity that is removed.
pub(super) const REMOVED: u32 = u32::MAX;

/// A sorted, immutable set of entities, some of which may be marked as removed.
#[derive(Default)]
pub(super) struct Segment {
    pub(super) pool: Pool,
    /// The types by name, each with its rows.
    pub(super) types: Box<[TypeRows]>,
    pub(super) rows: Box<[RowEntry]>,
    /// The rows by the texts of type and id.
    pub(super) by_id: HashTable<Row>,
    pub(super) hasher: DefaultHashBuilder,
    /// Records: the counts of roles, domain roles and properties, the roles, the pairs of domain and role, and the pairs of
    /// name and value.
    pub(super) words: Box<[u32]>,
    /// The indexes of properties, by type and name. Made when a search first needs them.
    pub(super) indexes: Mutex<PropertyIndexes>,
}

/// The indexes of properties by type and name; each is there once it is made.
pub(super) type PropertyIndexes = HashMap<(TextId, TextId), Arc<OnceLock<PropertyIndex>>>;

/// The rows of one type.
#[derive(Clone, Copy)]
pub(super) struct TypeRows {
    pub(super) name: TextId,
    pub(super) start: Row,
    pub(super) end: Row,
}

/// The place of one entity.
#[derive(Clone, Copy)]
pub(super) struct RowEntry {
    pub(super) entity_type: TextId,
    pub(super) id: TextId,
    /// The start of the record in the words, or [`REMOVED`].
    pub(super) record: u32,
}

/// The words of one entity.
#[derive(Clone, Copy)]
pub(super) struct Record<'s> {
    pub(super) roles: &'s [TextId],
    /// Domain and role.
    pub(super) domain_roles: &'s [[TextId; 2]],
    /// Name and value.
    pub(super) properties: &'s [[u32; 2]],
}

/// The words before the roles of a record.
pub(super) const HEADER: usize = 3;

impl Segment {
    /// Returns the row of an entity, whether it is removed or not.
    pub(super) fn find(&self, entity_type: &str, id: &str) -> Option<Row> {
        // An empty segment, as most overlays are, needs no hash.
        if self.by_id.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one((entity_type, id));
        let found = self
            .by_id
            .find(hash, |row| self.rows[*row as usize].key(&self.pool.texts) == (entity_type, id));
        found.copied()
    }

    /// Returns the rows of a type.
    pub(super) fn for_type(&self, entity_type: &str) -> Range<Row> {
        let found = self
            .types
            .binary_search_by(|rows| self.pool.texts.get(rows.name).cmp(entity_type))
            .map(|index| self.types[index]);
        found.map_or(0..0, |rows| rows.start..rows.end)
    }

    /// Returns the rows of a type whose ids come after `id`.
    pub(super) fn after(&self, entity_type: &str, id: Option<&str>) -> Range<Row> {
        let all = self.for_type(entity_type);
        let Some(id) = id else { return all };
        let rows = &self.rows[all.start as usize..all.end as usize];
        let before = rows.partition_point(|row| self.pool.texts.get(row.id) <= id);
        all.start + u32::try_from(before).unwrap_or(u32::MAX)..all.end
    }

    pub(super) fn id(&self, row: Row) -> &str {
        self.pool.texts.get(self.rows[row as usize].id)
    }

    pub(super) fn is_removed(&self, row: Row) -> bool {
        self.rows[row as usize].record == REMOVED
    }

    /// Returns the record of a row that is not removed.
    #[inline]
    pub(super) fn record(&self, row: Row) -> Record<'_> {
        // The words go on to the last record: the counts say which are of this one.
        let words = &self.words[self.rows[row as usize].record as usize..];
        let (counts, rest) = words.split_at(HEADER);
        let (roles, rest) = rest.split_at(counts[0] as usize);
        let (pairs, _) = rest.as_chunks::<2>();
        let (domain_roles, pairs) = pairs.split_at(counts[1] as usize);
        Record { roles, domain_roles, properties: &pairs[..counts[2] as usize] }
    }

    /// Returns the values of the property `name`, each with its row and word.
    pub(super) fn values_of(
        &self,
        rows: Range<Row>,
        name: TextId,
    ) -> impl Iterator<Item = (Row, Word, Packed<'_>)> {
        rows.filter(|row| !self.is_removed(*row)).filter_map(move |row| {
            let mut properties = self.record(row).properties.iter();
            let [_, word] = properties.find(|[own, _]| *own == name)?;
            Some((row, Word(*word), self.pool.get(Word(*word))))
        })
    }

    /// Returns the value of a word.
    #[inline(always)]
    pub(super) fn value(&self, word: u32) -> AttributeValue<'_> {
        self.pool.get(Word(word)).into()
    }

    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        self.pool.weight()
            + size_of_val::<[TypeRows]>(&self.types)
            + size_of_val::<[RowEntry]>(&self.rows)
            + self.by_id.allocation_size()
            + size_of_val::<[u32]>(&self.words)
            + self.weight_of_indexes()
    }

    fn weight_of_indexes(&self) -> usize {
        // An index is there only once it is complete, so that a panic leaves nothing half made.
        let indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.values().filter_map(|index| index.get()).map(PropertyIndex::weight).sum()
    }
}

impl RowEntry {
    /// Returns the type and the id, which `texts` have.
    #[inline]
    pub(super) fn key<'t>(&self, texts: &'t Texts) -> (&'t str, &'t str) {
        (texts.get(self.entity_type), texts.get(self.id))
    }
}
