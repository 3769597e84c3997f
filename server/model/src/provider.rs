//! Identity providers of `saas` mode (`docs/semantics.md`, section 6.10).

use portcullis_engine::fields::{Fields, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::schema::{self, AnySchema};
use super::{Timestamp, url};
use crate::egress_rules::EgressRules;

/// Longest claim name and audience, in characters.
const MAX_TEXT: usize = 2_048;

/// Where a token keeps what the service reads.
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
            roles_claim: "realm_access.roles".to_owned(),
            domain_claim: "dom".to_owned(),
            admin_domain_claim: "adm".to_owned(),
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
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let provider = Self::read(json, &mut problems, rules);
        problems.finish(provider)
    }

    fn read(json: &Json<'_>, problems: &mut Problems, rules: &EgressRules) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        let issuer_url = fields.required("issuer_url", url(rules));
        let jwks_uri = fields.required("jwks_uri", url(rules));
        let audience = fields.optional("audience", text(MAX_TEXT)).map(str::to_owned);
        let claim_config = fields.optional("claim_config", ClaimConfig::read);
        fields.close();
        Some(Self {
            issuer_url: issuer_url?,
            jwks_uri: jwks_uri?,
            audience,
            claim_config: claim_config.unwrap_or_default(),
        })
    }

    /// The record that it becomes.
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

impl ToSchema for NewProvider {}

impl PartialSchema for NewProvider {
    fn schema() -> AnySchema {
        let claim = |default: &str| {
            schema::text(MAX_TEXT)
                .default(Some(default.into()))
                .description(Some("A claim's name, or a dotted path"))
        };
        let claims = schema::input()
            .optional("roles_claim", claim("realm_access.roles"))
            .optional("domain_claim", claim("dom"))
            .optional("admin_domain_claim", claim("adm"));
        schema::input()
            .required("issuer_url", schema::url())
            .required("jwks_uri", schema::url())
            .optional("audience", schema::text(MAX_TEXT))
            .optional("claim_config", claims)
            .example(json!({
                "issuer_url": "https://login.example.com/realms/hospital",
                "jwks_uri":
                    "https://login.example.com/realms/hospital/protocol/openid-connect/certs",
            }))
            .into()
    }
}

impl ClaimConfig {
    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let mut claim = |name, default: String| {
            fields.optional(name, text(MAX_TEXT)).map_or(default, str::to_owned)
        };
        let default = Self::default();
        let config = Self {
            roles_claim: claim("roles_claim", default.roles_claim),
            domain_claim: claim("domain_claim", default.domain_claim),
            admin_domain_claim: claim("admin_domain_claim", default.admin_domain_claim),
        };
        fields.close();
        Some(config)
    }
}
