//! The table of types (`docs/semantics.md`, section 12.9).

use std::collections::BTreeMap;

use portcullis_engine::types::PropertySource;
use portcullis_engine::{Datetimes, KnownProperty, ResourcePattern};
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::Listed;
use portcullis_model::quota::Quota;
use portcullis_model::relation_declaration::RelationDeclarations;
use portcullis_model::types::{PropertyDeclarations, TypeRecord, declared_types};
use serde::{Deserialize, Serialize};

use crate::transactions::error::StoreError;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, row, select,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

mod relations;

use relations::numbers;
pub(crate) use relations::relation_names;
pub use relations::{NumberedRelations, relations};

row! {
    struct TypeRow as columns {
        name: String,
        definition: String,
        relations: String,
        created_by: String,
        created_at: i64,
        updated_by: Option<String>,
        updated_at: Option<i64>,
        managed_by: Option<String>,
    }
}

/// The column `definition`.
#[derive(Serialize, Deserialize)]
struct Definition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    properties: PropertyDeclarations,
}

impl TryFrom<TypeRow> for TypeRecord {
    type Error = StoreError;

    fn try_from(row: TypeRow) -> Result<Self, StoreError> {
        let Definition { about, properties } = read_definition(&row.definition)?;
        let relations = NumberedRelations::read(&row.name, &row.relations)?.into_declarations();
        Ok(Self {
            kind: row.name,
            about,
            properties,
            relations,
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
            updated_by: row.updated_by,
            updated_at: row.updated_at.map(Timestamp::from_millis),
            managed_by: row.managed_by,
        })
    }
}

/// A property as decisions know it, in the column `sources`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredProperty {
    Source(PropertySource),
    Reference {
        to: Box<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<PropertySource>,
    },
}

impl StoredProperty {
    /// Returns the property as it is stored; `None` if decisions know nothing of it.
    fn new(known: KnownProperty) -> Option<Self> {
        match known {
            KnownProperty { from, to: Some(to) } => Some(Self::Reference { to, from }),
            KnownProperty { from, to: None } => from.map(Self::Source),
        }
    }
}

impl From<StoredProperty> for KnownProperty {
    fn from(stored: StoredProperty) -> Self {
        match stored {
            StoredProperty::Source(from) => from.into(),
            StoredProperty::Reference { to, from } => Self { from, to: Some(to) },
        }
    }
}

/// The texts of a type that its row has.
struct Texts {
    definition: String,
    sources: String,
    /// The relations without their numbers.
    relations: String,
}

impl Texts {
    fn new(record: &TypeRecord) -> Self {
        let TypeRecord { about, properties, relations, .. } = record;
        let sources = properties
            .iter()
            .filter_map(|(name, property)| Some((name, StoredProperty::new(property.known()?)?)));
        let sources: BTreeMap<&String, StoredProperty> = sources.collect();
        let definition = Definition { about: about.clone(), properties: properties.clone() };
        // Texts and maps of them: there is nothing that could not be written.
        Self {
            definition: serde_json::to_string(&definition).unwrap_or_default(),
            sources: serde_json::to_string(&sources).unwrap_or_default(),
            relations: serde_json::to_string(relations).unwrap_or_default(),
        }
    }

    /// Returns the bytes that count for the quota.
    fn bytes(&self, name: &str) -> i64 {
        let Self { definition, sources, relations } = self;
        let bytes = name.len() + definition.len() + sources.len() + relations.len();
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

/// Finds the type with this name.
pub async fn find(tx: &mut Tx, name: &str) -> Result<Option<TypeRecord>, StoreError> {
    const SQL: &str = select!("FROM types WHERE tenant_id = $1 AND name = $2");
    record(fetch_optional!(tx, TypeRow, SQL, &tx.tenant, name)?)
}

/// Lists a page of the types in the order of names, after the name `after`; the empty text begins.
pub async fn list(tx: &mut Tx, after: &str, limit: i64) -> Result<Listed<TypeRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, definition],
        "FROM types WHERE tenant_id = $1 AND name > $2 ORDER BY name LIMIT $3"
    );
    fetch_page!(tx, TypeRow, limit, PAGES, &tx.tenant, after)
}

/// Reads every type, in the order of names.
pub async fn all(tx: &mut Tx) -> Result<Vec<TypeRecord>, StoreError> {
    const SQL: &str = select!("FROM types WHERE tenant_id = $1 ORDER BY name");
    records(fetch_all!(tx, TypeRow, SQL, &tx.tenant)?)
}

/// Reads the column `sources` of a type.
pub(crate) fn read_sources(
    name: &str,
    sources: &str,
) -> Result<(String, Vec<(String, KnownProperty)>), StoreError> {
    let stored = serde_json::from_str(sources).map_err(StoreError::corrupt("types.sources"))?;
    let stored: BTreeMap<String, StoredProperty> = stored;
    let known = stored.into_iter().map(|(name, stored)| (name, stored.into()));
    Ok((name.to_owned(), known.collect()))
}

/// Returns the properties that types declare as date-times. Each type comes with its column `definition`.
pub(crate) fn read_datetimes(types: &[(&str, &str)]) -> Result<Datetimes, StoreError> {
    let properties = types.iter().map(|(name, definition)| {
        let Definition { properties, .. } = read_definition(definition)?;
        Ok((*name, properties))
    });
    let properties = properties.collect::<Result<Vec<_>, StoreError>>()?;
    let none = RelationDeclarations::default();
    let types = properties.iter().map(|(name, properties)| (*name, properties, &none));
    Ok(Datetimes::from(&declared_types(types)))
}

fn read_definition(text: &str) -> Result<Definition, StoreError> {
    serde_json::from_str(text).map_err(StoreError::corrupt("types.definition"))
}

/// Inserts `new`, or replaces the one with the same name.
pub async fn store(tx: &mut Tx, new: &TypeRecord) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO types (tenant_id, name, definition, sources, relations, \
        created_by, created_at, updated_by, updated_at, managed_by) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
        ON CONFLICT (tenant_id, name) DO UPDATE SET definition = excluded.definition, \
        sources = excluded.sources, relations = excluded.relations, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at, managed_by = excluded.managed_by";
    let old = find(tx, &new.kind).await?;
    let texts = Texts::new(new);
    // Before the write: the present row has the numbers that stay.
    let relations = relations::text(&new.relations, &numbers(tx, new).await?);
    execute!(
        tx,
        SQL,
        &tx.tenant,
        &new.kind,
        &texts.definition,
        &texts.sources,
        relations,
        &new.created_by,
        new.created_at.millis(),
        new.updated_by.as_deref(),
        new.updated_at.map(Timestamp::millis),
        new.managed_by.as_deref(),
    )?;
    let action = match new.updated_at {
        None => AuditAction::TypeCreated,
        Some(_) => AuditAction::TypeUpdated,
    };
    note(tx, action, old.as_ref(), Some(new));
    Ok(())
}

/// Deletes the type with this name. False if it does not exist.
pub async fn delete(tx: &mut Tx, name: &str) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM types WHERE tenant_id = $1 AND name = $2";
    let Some(old) = find(tx, name).await? else { return Ok(false) };
    execute!(tx, SQL, &tx.tenant, name)?;
    note(tx, AuditAction::TypeDeleted, Some(&old), None);
    Ok(true)
}

/// Notes that a type changed: conditions about any resource may read its properties.
fn note(tx: &mut Tx, action: AuditAction, old: Option<&TypeRecord>, new: Option<&TypeRecord>) {
    let [old_bytes, new_bytes] =
        [old, new].map(|one| one.map_or(0, |record| Texts::new(record).bytes(&record.kind)));
    tx.count(Quota::StoredBytes, new_bytes - old_bytes);
    tx.touch([ResourcePattern::Any.into()]);
    let name = new.or(old).map_or("", |record| &record.kind);
    tx.audit_change(action, name, old, new);
}

#[cfg(test)]
mod tests;
