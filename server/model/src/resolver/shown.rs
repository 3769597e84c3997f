//! Resolvers as the API shows them.

use std::collections::BTreeMap;

use portcullis_engine::resolver_contract::Limits;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use utoipa::openapi::schema::Type;
use uuid::Uuid;

use super::endpoint::Endpoint;
use super::manifest::MAX_ENDPOINTS;
use super::record::{ModuleRecord, StoredResolver};
use super::secrets::SecretNames;
use super::stored;
use crate::Timestamp;
use crate::fields::map_schema;
use crate::schema::{self, AnySchema};

/// The installer of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResolverOrigin {
    /// The tenant, by this API.
    Tenant,
    /// The operator, for every tenant.
    Operator,
}

/// Whether a resolver is asked, by the process that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResolverState {
    /// It is called when a check needs it, as far as its breaker lets calls through.
    Ready,
    /// It is not: what it would answer is undetermined.
    Disabled,
    /// It is not in memory yet.
    Loading,
    /// It could not be loaded; `error` says why. It is tried again when a check needs it.
    Failed,
}

/// The state of the circuit breaker of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreakerRecord {
    /// It lets them through.
    Closed,
    /// It refuses them for a while.
    Open,
    /// It lets one through to see how it goes.
    HalfOpen,
}

/// The calls of a resolver in the process that answers, since it started.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ActivityRecord {
    #[schema(required)]
    pub breaker: Option<BreakerRecord>,
    /// Calls of the module, failed ones included.
    pub calls: u64,
    /// Calls that failed, by what they came to.
    pub failures: BTreeMap<&'static str, u64>,
    /// Attributes that needed no call.
    pub cached: u64,
    /// Attributes that were used beyond their time, since their source was unavailable.
    pub stale: u64,
    /// The duration of calls; `null` without any.
    #[schema(required)]
    pub latency_us: Option<LatencyRecord>,
    #[schema(required)]
    pub last_error: Option<LastErrorRecord>,
}

/// The duration of calls, in microseconds.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct LatencyRecord {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

/// The last call that failed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LastErrorRecord {
    pub at: Timestamp,
    pub message: String,
}

/// A resolver as the API shows it. Of one that the operator installed, what the operator's manifest says, and the
/// fields of authorship, are `null`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b80",
    "tenant_id": "hospital",
    "origin": "tenant",
    "namespace": "hr",
    "description": "who works where",
    "enabled": true,
    "version": 1,
    "config": {"region": "eu"},
    "secrets": ["hr_token"],
    "endpoints": {"directory": {"url": "https://hr.example.com/api/", "methods": ["GET"],
        "headers": {"authorization": "Bearer ${hr_token}"}}},
    "allowed_hosts": [],
    "limits": {"timeout_ms": 250, "memory_mib": 64},
    "cache_ttl_ms": 60000,
    "stale_if_error_ms": 0,
    "module": {
        "name": "hr-directory", "version": "0.1.0",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "size": 51234,
        "imports": ["portcullis:resolver/http@1.0.0"],
        "attributes": [{"name": "department", "kind": "text", "default_ttl_ms": 60000}],
        "inputs": ["subject"],
        "config_keys": [{"name": "region", "required": true}],
        "endpoints": ["directory"],
    },
    "state": "ready",
    "error": null,
    "activity": {
        "breaker": "closed", "calls": 12, "failures": {"timed_out": 1}, "cached": 340, "stale": 0,
        "latency_us": {"p50": 1800, "p99": 9200, "max": 250100},
        "last_error": {"at": "2026-05-16T10:02:11.482Z", "message": "timed out after 250 ms"},
    },
    "created_by": "ines-admin",
    "created_at": "2026-05-16T09:30:00.000Z",
    "updated_by": null,
    "updated_at": null,
    "managed_by": null,
})))]
pub struct ResolverRecord {
    pub id: Uuid,
    pub tenant_id: String,
    pub origin: ResolverOrigin,
    pub namespace: String,
    #[schema(required)]
    pub description: Option<String>,
    pub enabled: bool,
    /// 1, and one more for every change.
    pub version: u64,
    #[schema(required)]
    pub config: Option<BTreeMap<String, String>>,
    /// Their names; nobody sees their values again.
    #[schema(required, value_type = Option<Vec<String>>)]
    pub secrets: Option<SecretNames>,
    #[schema(required, schema_with = endpoints_schema)]
    pub endpoints: Option<BTreeMap<String, Endpoint>>,
    #[schema(required)]
    pub allowed_hosts: Option<Vec<String>>,
    #[serde(serialize_with = "limits")]
    #[schema(required, schema_with = limits_schema)]
    pub limits: Option<Limits>,
    #[schema(required)]
    pub cache_ttl_ms: Option<u32>,
    #[schema(required)]
    pub stale_if_error_ms: Option<u32>,
    pub module: ModuleRecord,
    pub state: ResolverState,
    /// The reason why it could not be loaded.
    #[schema(required)]
    pub error: Option<String>,
    #[schema(required)]
    pub activity: Option<ActivityRecord>,
    #[schema(required)]
    pub created_by: Option<String>,
    #[schema(required)]
    pub created_at: Option<Timestamp>,
    #[schema(required)]
    pub updated_by: Option<String>,
    #[schema(required)]
    pub updated_at: Option<Timestamp>,
    /// The owner, if it is managed.
    #[schema(required)]
    pub managed_by: Option<String>,
}

/// The status of a resolver in the process that answers.
#[derive(Debug)]
pub struct StatusRecord {
    pub state: ResolverState,
    pub error: Option<String>,
    pub activity: Option<ActivityRecord>,
}

impl ResolverRecord {
    /// A tenant's own.
    pub fn for_tenant(stored: StoredResolver, status: StatusRecord) -> Self {
        let manifest = stored.manifest;
        Self {
            id: stored.id,
            tenant_id: stored.tenant_id,
            origin: ResolverOrigin::Tenant,
            namespace: manifest.namespace,
            description: manifest.description,
            enabled: stored.enabled,
            version: stored.version,
            config: Some(manifest.config),
            secrets: Some(manifest.secrets),
            endpoints: Some(manifest.endpoints),
            allowed_hosts: Some(manifest.allowed_hosts),
            limits: Some(manifest.limits),
            cache_ttl_ms: manifest.cache_ttl_ms,
            stale_if_error_ms: Some(manifest.stale_if_error_ms),
            module: stored.module,
            state: status.state,
            error: status.error,
            activity: status.activity,
            created_by: Some(stored.created_by),
            created_at: Some(stored.created_at),
            updated_by: stored.updated_by,
            updated_at: stored.updated_at,
            managed_by: stored.managed_by,
        }
    }

    /// One that the operator installed, as `tenant` sees it.
    pub fn for_operator(
        id: Uuid,
        tenant: &str,
        namespace: String,
        description: Option<String>,
        module: ModuleRecord,
        status: StatusRecord,
    ) -> Self {
        Self {
            id,
            tenant_id: tenant.to_owned(),
            origin: ResolverOrigin::Operator,
            namespace,
            description,
            enabled: true,
            version: 1,
            config: None,
            secrets: None,
            endpoints: None,
            allowed_hosts: None,
            limits: None,
            cache_ttl_ms: None,
            stale_if_error_ms: None,
            module,
            state: status.state,
            error: status.error,
            activity: status.activity,
            created_by: None,
            created_at: None,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }
}

fn limits<S: Serializer>(limits: &Option<Limits>, serializer: S) -> Result<S::Ok, S::Error> {
    match limits {
        Some(limits) => stored::limits::serialize(limits, serializer),
        None => serializer.serialize_none(),
    }
}

fn endpoints_schema() -> AnySchema {
    schema::nullable(map_schema(MAX_ENDPOINTS, Endpoint::shown()))
}

fn limits_schema() -> AnySchema {
    let limits = schema::record()
        .field("timeout_ms", schema::typed(Type::Integer))
        .field("memory_mib", schema::typed(Type::Integer));
    schema::nullable(limits)
}
