//! Identity providers of `saas` mode (`docs/semantics.md`, section 6.10).

use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::egress_rules::EgressRules;
use crate::fields::{text, url};
use crate::input::{self, Field, Members, object};
use crate::{Timestamp, document};

/// Longest claim name and audience, in characters.
const MAX_TEXT: usize = 2_048;
/// The claims of a provider that names no others.
const ROLES_CLAIM: &str = "realm_access.roles";
const DOMAIN_CLAIM: &str = "dom";
const ADMIN_DOMAIN_CLAIM: &str = "adm";

/// The names of the claims that the service reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClaimConfig {
    /// A claim's literal name, or a dotted path.
    pub roles_claim: String,
    pub domain_claim: String,
    pub admin_domain_claim: String,
}

impl Default for ClaimConfig {
    fn default() -> Self {
        Self {
            roles_claim: ROLES_CLAIM.to_owned(),
            domain_claim: DOMAIN_CLAIM.to_owned(),
            admin_domain_claim: ADMIN_DOMAIN_CLAIM.to_owned(),
        }
    }
}

/// A registered provider as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b66",
    "tenant_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b65",
    "issuer_url": "https://login.example.com/realms/hospital",
    "jwks_uri": "https://login.example.com/realms/hospital/protocol/openid-connect/certs",
    "audience": null,
    "claim_config": {
        "roles_claim": "realm_access.roles", "domain_claim": "dom", "admin_domain_claim": "adm",
    },
    "created_at": "2026-05-16T09:30:00.000Z",
})))]
pub struct ProviderRecord {
    pub id: Uuid,
    pub tenant_id: String,
    /// What `iss` must equal, to the character; unique over all tenants, since it decides the tenant.
    pub issuer_url: String,
    pub jwks_uri: String,
    /// What `aud` must hold, when set.
    #[schema(required)]
    pub audience: Option<String>,
    pub claim_config: ClaimConfig,
    pub created_at: Timestamp,
}

/// The body that registers a provider.
#[derive(Clone, Debug)]
pub struct NewProvider {
    issuer_url: String,
    jwks_uri: String,
    audience: Option<String>,
    claim_config: ClaimConfig,
}

impl NewProvider {
    /// Reads a request body; both addresses must be ones that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, rules))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        let issuer_url = members.required("issuer_url", url(rules));
        let jwks_uri = members.required("jwks_uri", url(rules));
        let audience = members.optional("audience", text(MAX_TEXT));
        let claim_config = members.optional("claim_config", object(ClaimConfig::declare));
        Some(Self {
            issuer_url: issuer_url?,
            jwks_uri: jwks_uri?,
            audience,
            claim_config: claim_config.unwrap_or_default(),
        })
    }

    /// Returns the record of a new provider.
    pub fn into_record(self, id: Uuid, tenant_id: &str, created_at: Timestamp) -> ProviderRecord {
        ProviderRecord {
            id,
            tenant_id: tenant_id.to_owned(),
            issuer_url: self.issuer_url,
            jwks_uri: self.jwks_uri,
            audience: self.audience,
            claim_config: self.claim_config,
            created_at,
        }
    }
}

document!(NewProvider => {
    input::describe(|members| NewProvider::declare(members, &EgressRules::default())).example(json!({
        "issuer_url": "https://login.example.com/realms/hospital",
        "jwks_uri": "https://login.example.com/realms/hospital/protocol/openid-connect/certs",
    }))
});

impl ClaimConfig {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let roles = members.optional("roles_claim", claim(ROLES_CLAIM));
        let domain = members.optional("domain_claim", claim(DOMAIN_CLAIM));
        let admin_domain = members.optional("admin_domain_claim", claim(ADMIN_DOMAIN_CLAIM));
        let default = Self::default();
        Some(Self {
            roles_claim: roles.unwrap_or(default.roles_claim),
            domain_claim: domain.unwrap_or(default.domain_claim),
            admin_domain_claim: admin_domain.unwrap_or(default.admin_domain_claim),
        })
    }
}

/// The name of a claim; `default` when absent.
fn claim<'j>(default: &'static str) -> impl Field<'j, Value = String> {
    text(MAX_TEXT).default_is(default).about("A claim's name, or a dotted path")
}
