//! Builds a table from entities in any order.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::entity::Entity;
pub use super::packed::TableFull;
use super::packed::{MAX_NUMBER, PackedValue, Unpacked};
use super::segment::{REMOVED, RowEntry, Segment, TypeRows};
use super::table::EntityTable;
use super::texts::Texts;
use crate::json::{Json, Member};
use crate::number::Number;
use crate::value::AttributeValue;

/// An entity to put into a table, as it is read from JSON.
#[derive(Clone, Copy, Debug)]
pub struct EntityInput<'e> {
    /// The type.
    pub entity_type: &'e str,
    /// The id, unique in the type.
    pub id: &'e str,
    /// The roles in every domain: strings. Other items are ignored.
    pub roles: &'e [Json<'e>],
    /// The roles by domain: lists of strings. Other values are ignored.
    pub domain_roles: &'e [Member<'e>],
    /// The properties. A `null` counts as absent; an object is a value that no operator compares.
    pub properties: &'e [Member<'e>],
}

/// Builds an [`EntityTable`] from entities in any order. The last of several entities with one type and id counts.
#[derive(Default)]
pub struct EntityTableBuilder {
    texts: Texts,
    numbers: Vec<Number>,
    numbered: HashMap<Number, u32>,
    rows: Vec<RowEntry>,
    words: Vec<u32>,
    lists: Vec<u32>,
}

impl EntityTableBuilder {
    /// Adds an entity.
    ///
    /// # Errors
    /// [`TableFull`] if the table cannot hold it.
    pub fn push(&mut self, entity: &EntityInput<'_>) -> Result<(), TableFull> {
        self.begin(entity.entity_type, entity.id, false)?;
        let header = self.header();
        for role in entity.roles.iter().filter_map(Json::as_str) {
            let role = self.texts.intern(role)?;
            self.words.push(role);
            self.words[header] += 1;
        }
        for (domain, roles) in entity.domain_roles {
            for role in roles.as_array().unwrap_or_default().iter().filter_map(Json::as_str) {
                let pair = [self.texts.intern(domain)?, self.texts.intern(role)?];
                self.words.extend(pair);
                self.words[header + 1] += 1;
            }
        }
        for (name, value) in entity.properties {
            if !matches!(value, Json::Null) {
                let pair = [self.texts.intern(name)?, self.value(value)?.0];
                self.words.extend(pair);
                self.words[header + 2] += 1;
            }
        }
        Ok(())
    }

    /// Adds an entity of another table.
    ///
    /// # Errors
    /// [`TableFull`] if the table cannot hold it.
    pub fn push_entity(&mut self, entity: Entity<'_>) -> Result<(), TableFull> {
        self.begin(entity.entity_type(), entity.id(), false)?;
        let header = self.header();
        for role in entity.roles() {
            let role = self.texts.intern(role)?;
            self.words.push(role);
            self.words[header] += 1;
        }
        for (domain, role) in entity.domain_roles() {
            let pair = [self.texts.intern(domain)?, self.texts.intern(role)?];
            self.words.extend(pair);
            self.words[header + 1] += 1;
        }
        for (name, value) in entity.properties().iter() {
            let pair = [self.texts.intern(name)?, self.copied(value)?.0];
            self.words.extend(pair);
            self.words[header + 2] += 1;
        }
        Ok(())
    }

    /// Marks an entity as removed.
    pub(super) fn push_removed(&mut self, entity_type: &str, id: &str) -> Result<(), TableFull> {
        self.begin(entity_type, id, true)
    }

    /// Makes the table.
    ///
    /// # Errors
    /// [`TableFull`] if it has too many entities.
    pub fn finish(self) -> Result<EntityTable, TableFull> {
        Ok(EntityTable::of_base(Arc::new(self.segment()?)))
    }

    pub(super) fn segment(mut self) -> Result<Segment, TableFull> {
        let (texts, rows) = (&self.texts, &mut self.rows);
        let key = |row: &RowEntry| (texts.get(row.entity_type), texts.get(row.id));
        if !rows.is_sorted_by(|a, b| key(a) < key(b)) {
            // Stable: the last of equal ones is the one that was pushed last.
            rows.sort_by(|a, b| key(a).cmp(&key(b)));
            rows.dedup_by(|later, kept| {
                let same = later.key() == kept.key();
                if same {
                    *kept = *later;
                }
                same
            });
        }
        if u32::try_from(self.rows.len()).is_err() {
            return Err(TableFull);
        }
        self.texts.shrink();
        let hasher = DefaultHashBuilder::default();
        let mut by_id = HashTable::with_capacity(self.rows.len());
        for (row, entry) in (0..).zip(&self.rows) {
            let hash = |row: &u32| hasher.hash_one(self.rows[*row as usize].key());
            by_id.insert_unique(hasher.hash_one(entry.key()), row, hash);
        }
        Ok(Segment {
            types: types(&self.rows).into(),
            texts: self.texts,
            numbers: self.numbers.into(),
            rows: self.rows.into(),
            by_id,
            hasher,
            words: self.words.into(),
            lists: self.lists.into(),
        })
    }

    fn begin(&mut self, entity_type: &str, id: &str, removed: bool) -> Result<(), TableFull> {
        let record = match removed {
            true => REMOVED,
            false => {
                let start = u32::try_from(self.words.len()).ok().filter(|start| *start < REMOVED);
                self.words.extend([0, 0, 0]);
                start.ok_or(TableFull)?
            }
        };
        let entity_type = self.texts.intern(entity_type)?;
        let id = self.texts.intern(id)?;
        self.rows.push(RowEntry { entity_type, id, record });
        Ok(())
    }

    /// Returns the place of the counts of the entity that was begun last.
    fn header(&self) -> usize {
        self.words.len() - super::segment::HEADER
    }

    fn value(&mut self, value: &Json<'_>) -> Result<PackedValue, TableFull> {
        let Json::Array(items) = value else {
            return self.scalar(AttributeValue::from(value));
        };
        let items: Vec<_> = items.iter().map(AttributeValue::from).collect();
        self.list(&items)
    }

    fn copied(&mut self, value: AttributeValue<'_>) -> Result<PackedValue, TableFull> {
        let AttributeValue::List(list) = value else { return self.scalar(value) };
        let mut items = Vec::with_capacity(list.visited());
        list.for_each(|item| items.push(item));
        self.list(&items)
    }

    fn list(&mut self, items: &[AttributeValue<'_>]) -> Result<PackedValue, TableFull> {
        let number = |length: usize| u32::try_from(length).ok().filter(|n| *n < MAX_NUMBER);
        let place = number(self.lists.len()).ok_or(TableFull)?;
        self.lists.push(number(items.len()).ok_or(TableFull)?);
        for item in items {
            let item = self.scalar(*item)?;
            self.lists.push(item.0);
        }
        Ok(PackedValue::pack(Unpacked::List(place)))
    }

    /// Packs a scalar. An item of a list that is none equals nothing.
    fn scalar(&mut self, value: AttributeValue<'_>) -> Result<PackedValue, TableFull> {
        use crate::value::AttributeValue::{Bool, Number, Text};
        Ok(PackedValue::pack(match value {
            Text(text) => Unpacked::Text(self.texts.intern(text)?),
            Number(number) => Unpacked::Number(self.number(number)?),
            Bool(value) => Unpacked::Bool(value),
            _ => Unpacked::Opaque,
        }))
    }

    fn number(&mut self, number: Number) -> Result<u32, TableFull> {
        if let Some(known) = self.numbered.get(&number) {
            return Ok(*known);
        }
        let next = u32::try_from(self.numbers.len()).ok().filter(|next| *next < MAX_NUMBER);
        let next = next.ok_or(TableFull)?;
        self.numbers.push(number);
        self.numbered.insert(number, next);
        Ok(next)
    }
}

/// Returns the types of sorted rows.
fn types(rows: &[RowEntry]) -> Vec<TypeRows> {
    let mut types: Vec<TypeRows> = Vec::new();
    for (row, entry) in (0..).zip(rows) {
        match types.last_mut() {
            Some(last) if last.name == entry.entity_type => last.end = row + 1,
            _ => types.push(TypeRows { name: entry.entity_type, start: row, end: row + 1 }),
        }
    }
    types
}
