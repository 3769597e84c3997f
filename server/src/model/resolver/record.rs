//! Resolvers as the store keeps them, and as the API shows them.

use std::collections::BTreeMap;

use portcullis_engine::resolver::{AttributeSpec, Descriptor, Kind, Limits, Module};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::endpoint::Endpoint;
use super::manifest::Manifest;
use super::secrets::SecretNames;
use super::{input, stored};
use crate::model::schema;
use crate::model::{Authorship, Timestamp};

/// A resolver of a tenant as the store keeps it; the module's bytes and the secrets' values are apart from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StoredResolver {
    pub(crate) id: Uuid,
    pub(crate) tenant_id: String,
    pub(crate) manifest: Manifest<SecretNames>,
    pub(crate) enabled: bool,
    /// Raised by every update: what was answered by an older version is of no use any more.
    pub(crate) version: u64,
    pub(crate) module: ModuleRecord,
    pub(crate) created_by: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_by: Option<String>,
    pub(crate) updated_at: Option<Timestamp>,
}

impl StoredResolver {
    /// A new one.
    pub(crate) fn new(
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
        }
    }
}

/// A module, by what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ModuleRecord {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Of its bytes, in hexadecimal.
    pub(crate) sha256: String,
    /// In bytes.
    pub(crate) size: u64,
    /// What it can call. The toolchain leaves out what nothing calls, so this is the true list.
    pub(crate) imports: Vec<String>,
    /// What it answers.
    pub(crate) attributes: Vec<AttributeRecord>,
    /// What of a check it is shown: its answers are cached by these.
    pub(crate) inputs: Vec<String>,
    /// The keys of `config` that it reads.
    pub(crate) config_keys: Vec<ConfigKeyRecord>,
    /// The endpoints that it calls.
    pub(crate) endpoints: Vec<String>,
}

impl ModuleRecord {
    pub(crate) fn of(module: &Module) -> Self {
        let descriptor: &Descriptor = module.descriptor();
        let keys = descriptor.config_keys.iter();
        Self {
            name: descriptor.name.clone(),
            version: descriptor.version.clone(),
            sha256: module.digest().to_string(),
            size: module.size() as u64,
            imports: module.imports().to_vec(),
            attributes: descriptor.attributes.iter().map(AttributeRecord::of).collect(),
            inputs: Vec::new(),
            config_keys: keys
                .map(|key| ConfigKeyRecord { name: key.name.clone(), required: key.required })
                .collect(),
            endpoints: descriptor.endpoints.clone(),
        }
    }
}

/// An attribute that a module answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct AttributeRecord {
    /// Without the namespace.
    pub(crate) name: String,
    #[serde(with = "stored::kind")]
    #[schema(schema_with = kind_schema)]
    pub(crate) kind: Kind,
    /// How long a value may be cached, in milliseconds, unless the answer says otherwise.
    pub(crate) default_ttl_ms: u32,
}

impl AttributeRecord {
    fn of(spec: &AttributeSpec) -> Self {
        let AttributeSpec { name, kind, default_ttl_ms } = spec;
        Self { name: name.clone(), kind: *kind, default_ttl_ms: *default_ttl_ms }
    }
}

/// A key of `config` that a module reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ConfigKeyRecord {
    pub(crate) name: String,
    pub(crate) required: bool,
}

/// Who installed a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// The tenant, by this API.
    Tenant,
    /// The operator, for every tenant.
    Operator,
}

/// Whether a resolver can answer, in the process that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResolverState {
    /// It is in memory, and is called when a check needs it.
    Ready,
    /// It is not called: what it would answer is undetermined.
    Disabled,
    /// It is not in memory yet.
    Loading,
    /// It could not be loaded; `error` says why. It is tried again.
    Failed,
}

/// A resolver as the API shows it. Of one that the operator installed, `config`, `secrets`, `endpoints` and
/// `allowed_hosts` are the operator's affair and `null`, and so are the fields of authorship.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b80",
    "tenant_id": "hospital",
    "origin": "tenant",
    "namespace": "hr",
    "description": "who works where",
    "enabled": true,
    "state": "ready",
    "error": null,
    "config": {"region": "eu"},
    "secrets": ["hr_token"],
    "endpoints": {"directory": {"url": "https://hr.example.com/api/", "methods": ["GET"],
        "headers": {"authorization": "Bearer ${hr_token}"}}},
    "allowed_hosts": [],
    "limits": {"timeout_ms": 250, "memory_mib": 64},
    "cache_ttl_ms": 60000,
    "stale_if_error_ms": 0,
    "module": {
        "name": "hr-directory", "version": "0.1.0", "size": 51234,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "imports": ["portcullis:resolver/http@1.0.0"],
        "attributes": [{"name": "department", "kind": "text", "default_ttl_ms": 60000}],
        "inputs": ["subject"],
        "config_keys": [{"name": "region", "required": true}],
        "endpoints": ["directory"],
    },
    "version": 1,
    "created_by": "ines-admin",
    "created_at": "2026-05-16T09:30:00.000Z",
    "updated_by": null,
    "updated_at": null,
})))]
pub(crate) struct ResolverRecord {
    pub(crate) id: Uuid,
    pub(crate) tenant_id: String,
    pub(crate) origin: Origin,
    pub(crate) namespace: String,
    #[schema(required)]
    pub(crate) description: Option<String>,
    pub(crate) enabled: bool,
    pub(crate) state: ResolverState,
    /// Why it could not be loaded.
    #[schema(required)]
    pub(crate) error: Option<String>,
    #[schema(required)]
    pub(crate) config: Option<BTreeMap<String, String>>,
    /// Their names; nobody sees their values again.
    #[schema(required, value_type = Option<Vec<String>>)]
    pub(crate) secrets: Option<SecretNames>,
    #[schema(required, schema_with = input::shown_endpoints)]
    pub(crate) endpoints: Option<BTreeMap<String, Endpoint>>,
    #[schema(required)]
    pub(crate) allowed_hosts: Option<Vec<String>>,
    #[serde(with = "stored::limits")]
    #[schema(schema_with = input::shown_limits)]
    pub(crate) limits: Limits,
    #[schema(required)]
    pub(crate) cache_ttl_ms: Option<u32>,
    pub(crate) stale_if_error_ms: u32,
    pub(crate) module: ModuleRecord,
    /// How often it was changed, and 1.
    pub(crate) version: u64,
    #[schema(required)]
    pub(crate) created_by: Option<String>,
    #[schema(required)]
    pub(crate) created_at: Option<Timestamp>,
    #[schema(required)]
    pub(crate) updated_by: Option<String>,
    #[schema(required)]
    pub(crate) updated_at: Option<Timestamp>,
}

impl ResolverRecord {
    /// A tenant's own, and how it is in this process.
    pub(crate) fn of_tenant(
        stored: StoredResolver,
        state: ResolverState,
        error: Option<String>,
    ) -> Self {
        let manifest = stored.manifest;
        Self {
            id: stored.id,
            tenant_id: stored.tenant_id,
            origin: Origin::Tenant,
            namespace: manifest.namespace,
            description: manifest.description,
            enabled: stored.enabled,
            state,
            error,
            config: Some(manifest.config),
            secrets: Some(manifest.secrets),
            endpoints: Some(manifest.endpoints),
            allowed_hosts: Some(manifest.allowed_hosts),
            limits: manifest.limits,
            cache_ttl_ms: manifest.cache_ttl_ms,
            stale_if_error_ms: manifest.stale_if_error_ms,
            module: stored.module,
            version: stored.version,
            created_by: Some(stored.created_by),
            created_at: Some(stored.created_at),
            updated_by: stored.updated_by,
            updated_at: stored.updated_at,
        }
    }
}

fn kind_schema() -> utoipa::openapi::schema::ObjectBuilder {
    schema::choice(stored::kind::NAMES.map(|(_, name)| name))
        .description(Some("The type of its values: a string, a number, a boolean, or a list"))
}
