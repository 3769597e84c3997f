//! Lookups of entities by type and id, many at a time.

use std::collections::HashMap;

use portcullis_model::Timestamp;
use portcullis_model::entity::{EntityRecord, NewEntity};
use portcullis_model::relation::ObjectName;
use uuid::Uuid;

use super::content::{self, Content};
use crate::transactions::error::StoreError;
use crate::transactions::json_list::from_json_list;
use crate::transactions::macros::row;
use crate::transactions::row_lists::{LookUp, look_up};
use crate::transactions::tx::Tx;

/// Returns the name of an entity.
pub(super) fn name_of(entity: &NewEntity) -> ObjectName {
    ObjectName::new(&entity.kind, &entity.id)
}

/// Reads entities by type and id.
pub(crate) const LOOK_UP: LookUp = LookUp {
    table: "entities",
    key: &[("type", "TEXT"), ("id", "TEXT")],
    columns: "type AS kind, id, roles, domain_roles, properties, source, sync, revision, \
        updated_at, is_deleted",
    names: "kind, id, roles, domain_roles, properties, source, sync, revision, updated_at, is_deleted",
};

row! {
    /// The row of an entity.
    #[derive(Debug)]
    pub(super) struct StoredEntity {
        pub(super) kind: String,
        pub(super) id: String,
        pub(super) roles: String,
        pub(super) domain_roles: String,
        pub(super) properties: String,
        pub(super) source: Option<String>,
        pub(super) sync: Option<Uuid>,
        pub(super) revision: i64,
        pub(super) updated_at: i64,
        pub(super) is_deleted: bool,
    }
}

impl StoredEntity {
    /// Returns whether the entity has this content and source.
    pub(super) fn is(&self, content: &Content, source: Option<&str>) -> bool {
        self.roles == content.roles
            && self.domain_roles == content.domain_roles
            && self.properties == content.properties
            && self.source.as_deref() == source
    }

    /// Returns the bytes of the entity that count.
    pub(super) fn bytes(&self) -> i64 {
        let Self { kind, id, roles, domain_roles, properties, .. } = self;
        let sum: usize =
            [kind, id, roles, domain_roles, properties].iter().map(|text| text.len()).sum();
        i64::try_from(sum).unwrap_or(i64::MAX)
    }

    /// Returns every role that the entity has in some domain or in all.
    pub(super) fn every_role(&self) -> Result<Vec<String>, StoreError> {
        let mut roles = from_json_list(&self.roles, "entities.roles")?;
        roles.extend(content::domain_roles(&self.domain_roles)?.into_values().flatten());
        Ok(roles)
    }
}

impl TryFrom<StoredEntity> for EntityRecord {
    type Error = StoreError;

    fn try_from(row: StoredEntity) -> Result<Self, StoreError> {
        Ok(Self {
            roles: from_json_list(&row.roles, "entities.roles")?,
            domain_roles: content::domain_roles(&row.domain_roles)?,
            properties: content::properties(&row.properties)?,
            kind: row.kind,
            id: row.id,
            source: row.source,
            updated_at: Timestamp::from_millis(row.updated_at),
        })
    }
}

/// Finds the rows with these keys, including rows of deleted entities.
pub(super) async fn find_stored(
    tx: &mut Tx,
    keys: Vec<ObjectName>,
) -> Result<HashMap<ObjectName, StoredEntity>, StoreError> {
    let rows = look_up!(tx, StoredEntity, LOOK_UP, keys, key => &*key.kind, &*key.id);
    Ok(rows.into_iter().map(|row| (ObjectName::new(&row.kind, &row.id), row)).collect())
}
