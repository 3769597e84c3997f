//! Resolvers as the store keeps them.

use portcullis_engine::names::names;
use portcullis_engine::{AttributeKind, ResolverRef};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;
use uuid::Uuid;

use super::manifest::Manifest;
use super::secrets::SecretNames;
use crate::authorship::signed_record;
use crate::schema;
use crate::{Authorship, Timestamp};

/// A resolver of a tenant as the store keeps it; the module's bytes and the secrets' values are apart from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredResolver {
    pub id: Uuid,
    pub tenant_id: String,
    pub manifest: Manifest<SecretNames>,
    pub enabled: bool,
    /// Raised by every update: what was answered by an older version is of no use any more.
    pub version: u64,
    pub module: ModuleRecord,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_by: Option<String>,
    pub updated_at: Option<Timestamp>,
    /// The owner, if it is managed.
    pub managed_by: Option<String>,
}

signed_record!(StoredResolver { updated_at, updated_by });

impl StoredResolver {
    /// A new one.
    pub fn new(
        id: Uuid,
        tenant_id: &str,
        manifest: &Manifest,
        module: ModuleRecord,
        by: &Authorship,
    ) -> Self {
        Self {
            id,
            tenant_id: tenant_id.to_owned(),
            manifest: manifest.without_secrets(),
            enabled: true,
            version: 1,
            module,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }

    /// Returns the reference by which plans know the resolver.
    pub fn reference(&self) -> ResolverRef {
        ResolverRef { id: self.id, version: self.version }
    }
}

/// A module, by what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModuleRecord {
    pub name: String,
    pub version: String,
    /// The digest of the module, in hexadecimal.
    pub sha256: String,
    /// In bytes.
    pub size: u64,
    /// The functions that the module can call. The toolchain leaves out functions that nothing calls.
    pub imports: Vec<String>,
    /// The attributes that the module answers.
    pub attributes: Vec<AttributeRecord>,
    /// The parts of a check that the module sees. Its answers are cached by these.
    pub inputs: Vec<String>,
    /// The keys of `config` that it reads.
    pub config_keys: Vec<ConfigKeyRecord>,
    /// The endpoints that it calls.
    pub endpoints: Vec<String>,
}

/// An attribute that a module answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttributeRecord {
    /// Without the namespace.
    pub name: String,
    #[schema(schema_with = kind_schema)]
    pub kind: AttributeKind,
    /// The time to live of a value in the cache, in milliseconds, unless the answer has its own.
    pub default_ttl_ms: u32,
}

/// A key of `config` that a module reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigKeyRecord {
    pub name: String,
    pub required: bool,
}

fn kind_schema() -> ObjectBuilder {
    schema::choice(names::<AttributeKind>())
        .description(Some("The type of its values: a string, a number, a boolean, or a list"))
}
