//! The tenant and its sample users: `tenant.yaml`.

use std::borrow::Cow;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT, WILDCARD, rule_field};
use portcullis_engine::{Caller, Json};
use serde_json::json;
use utoipa::openapi::schema::Type;

use portcullis_model::fields::{list, string, text};
use portcullis_model::input::{self, Field, Members, field, object};
use portcullis_model::{document, schema};

use crate::unique::each_once;

/// The file that makes a folder a tenant folder.
pub const TENANT_FILE: &str = "tenant.yaml";
/// Claims that a token has in any case: from the tenant, the user, or whoever signs it.
const OWN_CLAIMS: [&str; 8] = ["iss", "sub", "aud", "exp", "nbf", "iat", "dom", "realm_access"];

/// An id, which has no `*`.
const TENANT_ID: &str = r"^[^*\x00]+$";

/// Somebody who has a token of the tenant.
#[derive(Debug)]
pub struct SampleUser {
    pub sub: String,
    /// May be empty: such a caller has no roles (`docs/semantics.md`, section 6.5).
    pub roles: Vec<String>,
    pub description: Option<String>,
    /// All claims of the user's token, except those that depend on who signs it and when.
    pub claims: Json<'static>,
}

/// The file `tenant.yaml`, as its schema names it.
pub(super) struct TenantFile;

document!(TenantFile, naming SampleUser => input::describe(declare));
document!(SampleUser as "User" => {
    input::describe(|members| SampleUser::declare(members, ""))
        .about("Somebody who has a token of the tenant")
        .example(json!({"sub": "ann", "roles": ["reader"], "claims": {"mfa": true}}))
});

/// The id of the tenant, its description, and its users.
pub(super) type Tenant = (String, Option<String>, Vec<SampleUser>);

/// Reads the tenant and its users.
pub(super) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Tenant> {
    input::read(json, at, problems, declare)
}

fn declare(members: &mut Members<'_, '_>) -> Option<Tenant> {
    let tenant = members.required("tenant", tenant_id());
    let description = string().about("A sentence for people: what the tenant is");
    let description = members.optional("description", description);
    // The faults of users are noted even if the tenant has no id.
    let users = members.required("users", users(tenant.as_deref().unwrap_or_default()));
    Some((tenant?, description, users?))
}

/// The id of a tenant. It is also the tenant's domain, and so no `*`.
fn tenant_id<'j>() -> impl Field<'j, Value = String> {
    field(read_tenant_id, || schema::text(MAX_DOMAIN).pattern(Some(TENANT_ID)))
        .about("The id of the tenant, and the domain of its rules and tokens")
}

fn read_tenant_id(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let tenant = rule_field(MAX_DOMAIN)(json, at, problems)?;
    if tenant == WILDCARD {
        problems.expected(at, "a tenant's id, not `*`");
    }
    Some(tenant.to_owned())
}

/// Users whose `sub`s differ.
fn users<'j>(tenant: &str) -> impl Field<'j, Value = Vec<SampleUser>> {
    let all = list(object(|members| SampleUser::declare(members, tenant)));
    field(
        move |json, at, problems| {
            let users = all.read(json, at, problems)?;
            each_once(users.iter().map(|user| &user.sub), "`sub`", at, problems);
            Some(users)
        },
        || schema::list(schema::named::<SampleUser>()),
    )
    .about("The people who have a token of the tenant in `portcullis dev` and in cases")
}

/// Reads the users of a tenant, each once.
pub(super) fn read_users(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    tenant: &str,
) -> Option<Vec<SampleUser>> {
    users(tenant).read(json, at, problems)
}

impl SampleUser {
    /// The caller whose token is the user's.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.sub, roles: &self.roles, claims: &self.claims }
    }

    fn declare(members: &mut Members<'_, '_>, tenant: &str) -> Option<Self> {
        let sub = text(MAX_SUBJECT).about("The `sub` of the token; unique in the file");
        let roles = list(text(MAX_SUBJECT)).about("The roles of the token; `[]` for none");
        let description = string().about("A sentence for people: who the user is");
        let sub = members.required("sub", sub);
        let roles = members.required("roles", roles);
        let description = members.optional("description", description);
        let extra = members.optional("claims", extra_claims());
        let (sub, roles) = (sub?, roles?);
        // The claims are those of a token from a common provider, so policies read them as in a service.
        let claims = claims(&sub, &roles, tenant, extra.unwrap_or_default());
        Some(Self { sub, roles, description, claims })
    }
}

/// Claims that a token has in addition to [`OWN_CLAIMS`].
fn extra_claims<'j>() -> impl Field<'j, Value = &'j [Member<'j>]> {
    field(read_extra_claims, || {
        let own = OWN_CLAIMS.join("|");
        let names = schema::string().pattern(Some(format!(r"^(?!({own})$)")));
        schema::typed(Type::Object).property_names(Some(names))
    })
    .about("Further claims of the token, which policies read as `token.<name>`")
}

fn read_extra_claims<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [Member<'j>]> {
    let Some(claims) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    for (name, _) in claims {
        if OWN_CLAIMS.contains(&&**name) {
            problems.expected(&at.key(name), "a further claim, not one that every token has");
        }
    }
    Some(claims)
}

/// The claims of a token of `tenant`, under the names that an identity provider has by default.
fn claims(sub: &str, roles: &[String], tenant: &str, extra: &[Member<'_>]) -> Json<'static> {
    let roles = Json::Array(roles.iter().map(|role| owned_string(role)).collect());
    let own = [
        ("sub", owned_string(sub)),
        ("dom", owned_string(tenant)),
        ("realm_access", Json::Object(vec![("roles".into(), roles)])),
    ];
    // No further claim has one of these names, so that no name is there twice.
    let own = own.into_iter().map(|(name, value)| (name.into(), value));
    let extra = extra
        .iter()
        .map(|(name, value)| (Cow::Owned(name.clone().into_owned()), value.clone().into_owned()));
    Json::Object(own.chain(extra).collect())
}

fn owned_string(text: &str) -> Json<'static> {
    Json::String(Cow::Owned(text.to_owned()))
}
