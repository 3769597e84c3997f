//! The texts that a row of an entity has, and how they are read.

use portcullis_engine::{Json, json};
use portcullis_model::entity::{DomainRoles, NewEntity, Properties};

use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json;

/// The columns of an entity that are JSON. The same entity gives the same texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) roles: String,
    pub(super) domain_roles: String,
    pub(super) properties: String,
    key_bytes: usize,
}

impl Content {
    /// Returns the texts of `entity`.
    pub(super) fn new(entity: &NewEntity) -> Self {
        Self {
            roles: to_json(&entity.roles),
            domain_roles: to_json(&entity.domain_roles),
            properties: to_json(&entity.properties),
            key_bytes: entity.kind.len() + entity.id.len(),
        }
    }

    /// Returns the bytes of the entity that count.
    pub(super) fn bytes(&self) -> i64 {
        let texts = self.roles.len() + self.domain_roles.len() + self.properties.len();
        i64::try_from(self.key_bytes + texts).unwrap_or(i64::MAX)
    }
}

/// Reads the column `domain_roles`.
pub(super) fn domain_roles(text: &str) -> Result<DomainRoles, StoreError> {
    serde_json::from_str(text).map_err(StoreError::corrupt("entities.domain_roles"))
}

/// Reads the column `properties`.
pub(super) fn properties(text: &str) -> Result<Properties, StoreError> {
    let corrupt = StoreError::Corrupt { what: "entities.properties" };
    match json::parse(text.as_bytes()).map(Json::into_owned) {
        Ok(Json::Object(members)) => {
            Ok(members.into_iter().map(|(name, value)| (name.into_owned(), value)).collect())
        }
        _ => Err(corrupt),
    }
}
