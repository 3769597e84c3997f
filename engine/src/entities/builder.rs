//! Builds a table from entities in any order.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::entity::Entity;
use super::segment::{HEADER, REMOVED, RowEntry, Segment, TypeRows};
use crate::json::{Json, Member};
use crate::packed::{Pool, TextId, Unpacked, Word};
use crate::value::AttributeValue;

/// The table has more texts, values or entities than it can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the entities take more than 4 GiB of memory")]
pub struct TableFull;

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

/// Builds an [`EntityTable`](super::EntityTable) from entities in any order. The last of several entities with one type and id
/// counts.
#[derive(Default)]
pub struct EntityTableBuilder {
    pool: Pool,
    rows: Vec<RowEntry>,
    words: Vec<u32>,
}

impl EntityTableBuilder {
    /// Adds an entity.
    ///
    /// # Errors
    /// [`TableFull`] if the table cannot hold it.
    pub fn push<'e>(&mut self, entity: &EntityInput<'e>) -> Result<(), TableFull> {
        let in_domains = entity.domain_roles.iter().flat_map(|(domain, all)| {
            texts(all.as_array().unwrap_or_default()).map(move |role| (&**domain, role))
        });
        let present = entity.properties.iter().filter(|(_, value)| *value != Json::Null);
        let properties = present.map(|(name, value)| (&**name, value.into()));
        let key = (entity.entity_type, entity.id);
        self.record(key, texts(entity.roles), in_domains, properties)
    }

    /// Adds an entity of another table.
    ///
    /// # Errors
    /// [`TableFull`] if the table cannot hold it.
    pub fn push_entity(&mut self, entity: Entity<'_>) -> Result<(), TableFull> {
        let key = (entity.entity_type(), entity.id());
        let properties = entity.properties().iter();
        self.record(key, entity.roles(), entity.domain_roles(), properties)
    }

    fn record<'e>(
        &mut self,
        (entity_type, id): (&str, &str),
        roles: impl Iterator<Item = &'e str>,
        in_domains: impl Iterator<Item = (&'e str, &'e str)>,
        properties: impl Iterator<Item = (&'e str, AttributeValue<'e>)>,
    ) -> Result<(), TableFull> {
        self.begin(entity_type, id, false)?;
        let header = self.words.len() - HEADER;
        for role in roles {
            let role = self.text(role)?;
            self.words.push(role);
            self.words[header] += 1;
        }
        for (domain, role) in in_domains {
            let pair = [self.text(domain)?, self.text(role)?];
            self.words.extend(pair);
            self.words[header + 1] += 1;
        }
        for (name, value) in properties {
            let pair = [self.text(name)?, self.value(value)?.0];
            self.words.extend(pair);
            self.words[header + 2] += 1;
        }
        Ok(())
    }

    /// Marks an entity as removed.
    pub(super) fn push_removed(&mut self, entity_type: &str, id: &str) -> Result<(), TableFull> {
        self.begin(entity_type, id, true)
    }

    pub(super) fn segment(mut self) -> Result<Segment, TableFull> {
        let (texts, rows) = (&self.pool.texts, &mut self.rows);
        // A table that is folded comes in its order.
        if !rows.is_sorted_by(|a, b| a.key(texts) < b.key(texts)) {
            // Stable: the last of equal ones is the one that was pushed last.
            rows.sort_by(|a, b| a.key(texts).cmp(&b.key(texts)));
            rows.dedup_by(|later, kept| {
                let same = later.key(texts) == kept.key(texts);
                if same {
                    *kept = *later;
                }
                same
            });
        }
        if u32::try_from(self.rows.len()).is_err() {
            return Err(TableFull);
        }
        self.pool.shrink();
        let hasher = DefaultHashBuilder::default();
        let mut by_id = HashTable::with_capacity(self.rows.len());
        let texts = &self.pool.texts;
        for (row, entry) in (0..).zip(&self.rows) {
            let hash = hasher.hash_one(entry.key(texts));
            // The table has room for all: nothing is hashed again.
            by_id.insert_unique(hash, row, |row| {
                hasher.hash_one(self.rows[*row as usize].key(texts))
            });
        }
        Ok(Segment {
            types: types(&self.rows).into(),
            pool: self.pool,
            rows: self.rows.into(),
            by_id,
            hasher,
            words: self.words.into(),
            ..Segment::default()
        })
    }

    fn begin(&mut self, entity_type: &str, id: &str, removed: bool) -> Result<(), TableFull> {
        let record = match removed {
            true => REMOVED,
            false => {
                let start = u32::try_from(self.words.len()).ok().filter(|start| *start < REMOVED);
                // The counts of the record, which grow with the words behind them.
                self.words.extend([0, 0, 0]);
                start.ok_or(TableFull)?
            }
        };
        let entity_type = self.text(entity_type)?;
        let id = self.text(id)?;
        self.rows.push(RowEntry { entity_type, id, record });
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<TextId, TableFull> {
        self.pool.texts.intern(text).ok_or(TableFull)
    }

    fn value(&mut self, value: AttributeValue<'_>) -> Result<Word, TableFull> {
        let AttributeValue::List(list) = value else { return self.scalar(value) };
        let mut items = Vec::with_capacity(list.visited());
        // `for_each` cannot end early, so that a full pool shows behind it.
        list.for_each(|item| items.push(self.scalar(item)));
        let items: Vec<Word> = items.into_iter().collect::<Result<_, _>>()?;
        self.pool.list(&items).ok_or(TableFull)
    }

    /// Packs a scalar. Any other item of a list equals nothing.
    fn scalar(&mut self, value: AttributeValue<'_>) -> Result<Word, TableFull> {
        let packed = match value {
            AttributeValue::Text(text) => self.pool.text(text),
            AttributeValue::Number(number) => self.pool.number(number),
            AttributeValue::Bool(value) => Some(Word::from_bool(value)),
            _ => Some(Word::pack(Unpacked::Opaque)),
        };
        packed.ok_or(TableFull)
    }
}

fn texts<'e>(items: &'e [Json<'e>]) -> impl Iterator<Item = &'e str> {
    items.iter().filter_map(Json::as_str)
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
