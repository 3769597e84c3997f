//! Identity providers of `saas` mode (`docs/semantics.md`, section 6.10).

use portcullis_engine::names::names;
use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::egress_rules::EgressRules;
use crate::fields::{text, url, variant};
use crate::input::{self, Field, Members, object};
use crate::sign_in::{NewSignIn, SignIn, SignInSecret};
use crate::{Timestamp, document, schema};

/// Longest claim name and audience, in characters.
const MAX_TEXT: usize = 2_048;
/// The claims of a provider that names no others.
const ROLES_CLAIM: &str = "realm_access.roles";
const DOMAIN_CLAIM: &str = "dom";
const ADMIN_DOMAIN_CLAIM: &str = "adm";

/// The form of a claim of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(Serialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(into = "&'static str")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RolesFormat {
    /// A list of roles, or a text that is one role.
    #[default]
    List,
    /// A text with white space or commas between the roles, or a list.
    Words,
    /// An object whose names are the roles, but for those with `false` or `null`, or a list.
    Keys,
}

document!(RolesFormat => schema::choice(names::<RolesFormat>()));

/// The names of the claims that the service reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClaimConfig {
    /// A claim's literal name, or a dotted path, in which `\.` is a dot of a name.
    pub roles_claim: String,
    pub domain_claim: String,
    pub admin_domain_claim: String,
    pub roles_format: RolesFormat,
}

impl Default for ClaimConfig {
    fn default() -> Self {
        Self {
            roles_claim: ROLES_CLAIM.to_owned(),
            domain_claim: DOMAIN_CLAIM.to_owned(),
            admin_domain_claim: ADMIN_DOMAIN_CLAIM.to_owned(),
            roles_format: RolesFormat::default(),
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
        "roles_format": "list",
    },
    "sign_in": null,
    "created_at": "2026-05-16T09:30:00.000Z",
})))]
pub struct ProviderRecord {
    pub id: Uuid,
    pub tenant_id: String,
    /// The exact `iss` of the tokens; unique over all tenants, because it decides the tenant.
    pub issuer_url: String,
    pub jwks_uri: String,
    /// The audience that `aud` must contain, if set.
    #[schema(required)]
    pub audience: Option<String>,
    pub claim_config: ClaimConfig,
    /// The client by which people sign in to the console, if they may.
    #[schema(required)]
    pub sign_in: Option<SignIn>,
    pub created_at: Timestamp,
}

/// The body that registers a provider.
#[derive(Clone, Debug)]
pub struct NewProvider {
    issuer_url: String,
    jwks_uri: String,
    audience: Option<String>,
    claim_config: ClaimConfig,
    sign_in: Option<NewSignIn>,
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
        let sign_in = members.optional("sign_in", object(NewSignIn::declare));
        Some(Self {
            issuer_url: issuer_url?,
            jwks_uri: jwks_uri?,
            audience,
            claim_config: claim_config.unwrap_or_default(),
            sign_in,
        })
    }

    /// Returns the record of a new provider, and the secret of its client for the sign-in.
    pub fn into_record(
        self,
        id: Uuid,
        tenant_id: &str,
        created_at: Timestamp,
    ) -> (ProviderRecord, Option<String>) {
        let (sign_in, secret) = match self.sign_in {
            Some(new) => new.into_first(),
            None => (None, None),
        };
        let record = ProviderRecord {
            id,
            tenant_id: tenant_id.to_owned(),
            issuer_url: self.issuer_url,
            jwks_uri: self.jwks_uri,
            audience: self.audience,
            claim_config: self.claim_config,
            sign_in,
            created_at,
        };
        (record, secret)
    }
}

/// The body that changes a provider. An absent member leaves it as it is.
#[derive(Clone, Debug)]
pub struct ProviderChange {
    issuer_url: Option<String>,
    jwks_uri: Option<String>,
    audience: Option<Option<String>>,
    claim_config: Option<ClaimConfig>,
    sign_in: Option<Option<NewSignIn>>,
}

impl ProviderChange {
    /// Reads a request body; the addresses must be ones that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        input::parse(json, |members| Some(Self::declare(members, rules)))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Self {
        Self {
            issuer_url: members.change("issuer_url", url(rules)),
            jwks_uri: members.change("jwks_uri", url(rules)),
            audience: members.clearable("audience", text(MAX_TEXT)),
            claim_config: members.change("claim_config", object(ClaimConfig::declare)),
            sign_in: members.clearable("sign_in", object(NewSignIn::declare)),
        }
    }

    /// Returns whether the body names another issuer than the one of `record`, whose tokens would belong to another provider.
    pub fn names_other_issuer(&self, record: &ProviderRecord) -> bool {
        self.issuer_url.as_ref().is_some_and(|issuer| *issuer != record.issuer_url)
    }

    /// Changes `record`, and returns what becomes of the secret of its client.
    pub fn apply_to(self, record: &mut ProviderRecord) -> SignInSecret {
        if let Some(jwks_uri) = self.jwks_uri {
            record.jwks_uri = jwks_uri;
        }
        if let Some(audience) = self.audience {
            record.audience = audience;
        }
        if let Some(claim_config) = self.claim_config {
            record.claim_config = claim_config;
        }
        match self.sign_in {
            // The outer option tells an absent member, and the inner one a `null`.
            None => SignInSecret::Kept,
            Some(None) => {
                record.sign_in = None;
                SignInSecret::Removed
            }
            // A body without a new secret keeps the stored one, if there is one to keep.
            Some(Some(new)) => {
                let had_secret = record.sign_in.as_ref().is_some_and(|old| old.has_client_secret);
                let (sign_in, secret) = new.into_next(had_secret);
                record.sign_in = Some(sign_in);
                secret
            }
        }
    }
}

document!(ProviderChange => {
    input::describe(|members| Some(ProviderChange::declare(members, &EgressRules::default()))).example(json!({
        "sign_in": {"client_id": "portcullis-console", "client_secret": "s3cret", "name": "Hospital"},
    }))
});

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
        let roles_format = members.optional("roles_format", roles_format());
        let default = Self::default();
        Some(Self {
            roles_claim: roles.unwrap_or(default.roles_claim),
            domain_claim: domain.unwrap_or(default.domain_claim),
            admin_domain_claim: admin_domain.unwrap_or(default.admin_domain_claim),
            roles_format: roles_format.unwrap_or_default(),
        })
    }
}

/// The form of the claim of roles; a list when absent.
fn roles_format<'j>() -> impl Field<'j, Value = RolesFormat> {
    variant().default_is(RolesFormat::default().into_str()).about(
        "`list`: a list, or a text that is one role; `words`: a text with white space or commas between roles; `keys`: an \
         object whose names are the roles",
    )
}

/// The name of a claim; `default` when absent.
fn claim<'j>(default: &'static str) -> impl Field<'j, Value = String> {
    text(MAX_TEXT)
        .default_is(default)
        .about("A claim's name, or a dotted path, in which `\\.` is a dot of a name")
}
