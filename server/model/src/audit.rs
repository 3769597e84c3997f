//! Audit records: who changed what, when, and by which request (`docs/semantics.md`, section 6.11).

use std::net::IpAddr;
use std::time::Duration;

use portcullis_engine::names::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::apply::ObjectKind;
use crate::{Timestamp, document, schema};

/// The author of changes that the operator makes with the admin key or on the command line.
pub const ADMIN_ACTOR: &str = "admin";

/// The kind of credential with which a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CredentialKind {
    Token,
    ServiceKey,
    AdminKey,
    /// A session of the console.
    Session,
    /// The operator, on the command line.
    CommandLine,
    /// The service itself.
    Service,
}

/// The author of a change and the request that made it. It never holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub actor: String,
    pub credential: CredentialKind,
    /// The id of the service key, or the name of the admin key.
    pub key: Option<String>,
    /// The address of the client, if it is known.
    pub address: Option<IpAddr>,
    pub request_id: Option<String>,
}

impl Origin {
    /// Returns the origin of a change by `actor` outside of any request.
    pub fn new(actor: &str, credential: CredentialKind) -> Self {
        let actor = actor.to_owned();
        Self { actor, credential, key: None, address: None, request_id: None }
    }

    /// Returns the origin of what the service does by itself.
    pub fn service() -> Self {
        Self::new("service", CredentialKind::Service)
    }

    /// Names the key of the credential.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Names the request.
    #[must_use]
    pub fn with_request(self, address: Option<IpAddr>, request_id: Option<String>) -> Self {
        Self { address, request_id, ..self }
    }
}

/// The author of a change, as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangeAuthor {
    /// As in `created_by`; `admin:<name>` if the admin key has a name; `-` if the credential was refused.
    pub actor: String,
    /// `token`, `service_key`, `admin_key`, `session`, `command_line` or `service`.
    pub credential: String,
    /// The id of the service key, or the name of the admin key.
    #[schema(required)]
    pub key: Option<String>,
    /// The name that the service key had.
    #[schema(required)]
    pub key_name: Option<String>,
}

/// The origin of an apply: where its bundle is from, and what its author says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeSource {
    #[schema(required)]
    pub commit: Option<String>,
    #[serde(rename = "ref")]
    #[schema(required)]
    pub reference: Option<String>,
    #[schema(required)]
    pub url: Option<String>,
    #[schema(required)]
    pub message: Option<String>,
}

/// The kind of a recorded change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum AuditAction {
    #[strum(serialize = "resource.registered")]
    ResourceRegistered,
    #[strum(serialize = "resource.deleted")]
    ResourceDeleted,
    #[strum(serialize = "rule.created")]
    RuleCreated,
    #[strum(serialize = "rule.updated")]
    RuleUpdated,
    #[strum(serialize = "rule.deleted")]
    RuleDeleted,
    #[strum(serialize = "policy.created")]
    PolicyCreated,
    #[strum(serialize = "policy.updated")]
    PolicyUpdated,
    #[strum(serialize = "policy.deleted")]
    PolicyDeleted,
    #[strum(serialize = "service_key.created")]
    ServiceKeyCreated,
    #[strum(serialize = "service_key.revoked")]
    ServiceKeyRevoked,
    #[strum(serialize = "webhook.created")]
    WebhookCreated,
    #[strum(serialize = "webhook.updated")]
    WebhookUpdated,
    #[strum(serialize = "webhook.deleted")]
    WebhookDeleted,
    #[strum(serialize = "webhook.tested")]
    WebhookTested,
    #[strum(serialize = "delivery.repeated")]
    DeliveryRepeated,
    #[strum(serialize = "resolver.created")]
    ResolverCreated,
    #[strum(serialize = "resolver.updated")]
    ResolverUpdated,
    #[strum(serialize = "resolver.deleted")]
    ResolverDeleted,
    #[strum(serialize = "entities.written")]
    EntitiesWritten,
    #[strum(serialize = "entities.deleted")]
    EntitiesDeleted,
    #[strum(serialize = "relations.written")]
    RelationsWritten,
    #[strum(serialize = "relations.deleted")]
    RelationsDeleted,
    #[strum(serialize = "decisions.erased")]
    DecisionsErased,
    #[strum(serialize = "role.created")]
    RoleCreated,
    #[strum(serialize = "role.updated")]
    RoleUpdated,
    #[strum(serialize = "role.deleted")]
    RoleDeleted,
    #[strum(serialize = "type.created")]
    TypeCreated,
    #[strum(serialize = "type.updated")]
    TypeUpdated,
    #[strum(serialize = "type.deleted")]
    TypeDeleted,
    #[strum(serialize = "condition.created")]
    ConditionCreated,
    #[strum(serialize = "condition.updated")]
    ConditionUpdated,
    #[strum(serialize = "condition.deleted")]
    ConditionDeleted,
    #[strum(serialize = "settings.updated")]
    SettingsUpdated,
    #[strum(serialize = "cases.updated")]
    CasesUpdated,
    #[strum(serialize = "draft.stored")]
    DraftStored,
    #[strum(serialize = "draft.deleted")]
    DraftDeleted,
    #[strum(serialize = "draft.published")]
    DraftPublished,
    #[strum(serialize = "proposal.created")]
    ProposalCreated,
    #[strum(serialize = "proposal.approved")]
    ProposalApproved,
    #[strum(serialize = "proposal.rejected")]
    ProposalRejected,
    #[strum(serialize = "provider.registered")]
    ProviderRegistered,
    #[strum(serialize = "provider.updated")]
    ProviderUpdated,
    #[strum(serialize = "provider.removed")]
    ProviderRemoved,
    #[strum(serialize = "tenant.created")]
    TenantCreated,
    #[strum(serialize = "tenant.suspended")]
    TenantSuspended,
    #[strum(serialize = "tenant.resumed")]
    TenantResumed,
    #[strum(serialize = "tenant.deletion_requested")]
    TenantDeletionRequested,
    #[strum(serialize = "tenant.deleted")]
    TenantDeleted,
    #[strum(serialize = "credential.refused")]
    CredentialRefused,
    #[strum(serialize = "console.link_created")]
    ConsoleLinkCreated,
    #[strum(serialize = "console.signed_in")]
    ConsoleSignedIn,
    #[strum(serialize = "console.signed_out")]
    ConsoleSignedOut,
    #[strum(serialize = "secrets.reencrypted")]
    SecretsReencrypted,
}

impl AuditAction {
    /// Returns the kind of the rules, policies, resources, roles, types or conditions that the action changes.
    pub fn object(self) -> Option<ObjectKind> {
        match self {
            Self::ResourceRegistered | Self::ResourceDeleted => Some(ObjectKind::Resource),
            Self::RuleCreated | Self::RuleUpdated | Self::RuleDeleted => Some(ObjectKind::Rule),
            Self::PolicyCreated | Self::PolicyUpdated | Self::PolicyDeleted => {
                Some(ObjectKind::Policy)
            }
            Self::RoleCreated | Self::RoleUpdated | Self::RoleDeleted => Some(ObjectKind::Role),
            Self::TypeCreated | Self::TypeUpdated | Self::TypeDeleted => Some(ObjectKind::Type),
            Self::ConditionCreated | Self::ConditionUpdated | Self::ConditionDeleted => {
                Some(ObjectKind::Condition)
            }
            _ => None,
        }
    }
}

document!(AuditAction => schema::choice(names::<AuditAction>()));

/// An audit record as the store keeps it and the API lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70",
    "tenant_id": "general-hospital",
    "at": "2026-05-16T09:30:00.000Z",
    "actor": "ines-admin",
    "credential": "token",
    "key": null,
    "key_name": null,
    "action": "policy.updated",
    "records": ["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68"],
    "count": 1,
    "before": {"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68", "name": "visitors-by-day", "priority": 1},
    "after": {"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68", "name": "visitors-by-day", "priority": 10},
    "source": {"commit": "3f2c", "ref": "main", "url": null, "message": null},
    "address": "203.0.113.7",
    "request_id": "019e3020-2ac4-7d54-8f0b-2c4b1a9d6e70",
})))]
pub struct AuditRecord {
    pub id: Uuid,
    /// `null` if the record belongs to no tenant.
    #[schema(required)]
    pub tenant_id: Option<String>,
    pub at: Timestamp,
    #[serde(flatten)]
    pub author: ChangeAuthor,
    #[schema(value_type = AuditAction)]
    pub action: String,
    /// The ids of the records that changed; the names of roles, types, conditions, entities and tuples.
    pub records: Vec<String>,
    /// The number of changes, or of refusals, that the record stands for.
    pub count: i64,
    /// The record before the change; a list in the order of `records` if they are several. `null` if there was none, or
    /// if records of this kind are not kept.
    #[schema(required, schema_with = schema::anything)]
    pub before: Option<Value>,
    /// As `before`, after the change.
    #[schema(required, schema_with = schema::anything)]
    pub after: Option<Value>,
    /// The origin of the apply that made the change.
    #[schema(required)]
    pub source: Option<ChangeSource>,
    /// The address of the client, if it is known.
    #[schema(required)]
    pub address: Option<String>,
    #[schema(required)]
    pub request_id: Option<String>,
}

/// The criteria by which audit records are listed.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub action: Option<AuditAction>,
    pub actor: Option<String>,
    /// Only audit records about the record with this id or name.
    pub record: Option<String>,
    /// Only audit records from this instant on.
    pub from: Option<Timestamp>,
    /// Only audit records before this instant.
    pub to: Option<Timestamp>,
}

/// The audit records that are kept.
#[derive(Clone, Copy, Debug)]
pub struct AuditRetention {
    /// The longest time that a record is kept.
    pub age: Duration,
    /// The most records of one tenant.
    pub records: i64,
}

impl Default for AuditRetention {
    fn default() -> Self {
        Self { age: Duration::from_secs(365 * 24 * 60 * 60), records: 100_000 }
    }
}
