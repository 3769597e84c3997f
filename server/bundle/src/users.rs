//! The tenant and its sample users: `tenant.yaml`.

use std::borrow::Cow;

use portcullis_engine::fields::{Fields, list, string, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT, WILDCARD, rule_field};
use portcullis_engine::{Caller, Json};

use crate::unique::each_once;

/// The file that makes a folder a tenant folder.
pub const TENANT_FILE: &str = "tenant.yaml";
/// Claims that a token has in any case: from the tenant, the user, or whoever signs it.
const OWN_CLAIMS: [&str; 8] = ["iss", "sub", "aud", "exp", "nbf", "iat", "dom", "realm_access"];

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

/// The id of the tenant, its description, and its users.
pub(super) type Tenant = (String, Option<String>, Vec<SampleUser>);

/// Reads the tenant and its users.
pub(super) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Tenant> {
    let mut fields = Fields::open(json, at, problems)?;
    let tenant = fields.required("tenant", |json, at, problems| {
        let tenant = rule_field(MAX_DOMAIN)(json, at, problems)?;
        if tenant == WILDCARD {
            problems.expected(at, "a tenant's id, not `*`");
        }
        Some(tenant)
    });
    let description = fields.optional("description", string).map(str::to_owned);
    let users = fields.required("users", |json, at, problems| {
        read_users(json, at, problems, tenant.unwrap_or_default())
    });
    fields.close();
    Some((tenant?.to_owned(), description, users?))
}

/// Reads the users of a tenant, each once.
pub(super) fn read_users(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    tenant: &str,
) -> Option<Vec<SampleUser>> {
    let users = list(|json, at: &Place<'_>, problems: &mut Problems| {
        SampleUser::read(json, at, problems, tenant)
    })(json, at, problems)?;
    each_once(users.iter().map(|user| &user.sub), "`sub`", at, problems);
    Some(users)
}

impl SampleUser {
    /// The caller whose token is the user's.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.sub, roles: &self.roles, claims: &self.claims }
    }

    fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        tenant: &str,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let sub = fields.required("sub", text(MAX_SUBJECT));
        let roles = fields.required("roles", roles);
        let description = fields.optional("description", string).map(str::to_owned);
        let extra = fields.optional("claims", extra_claims);
        fields.close();
        let (sub, roles) = (sub?.to_owned(), roles?);
        let claims = claims(&sub, &roles, tenant, extra.unwrap_or_default());
        Some(Self { sub, roles, description, claims })
    }
}

fn roles(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let roles = list(text(MAX_SUBJECT))(json, at, problems)?;
    Some(roles.into_iter().map(str::to_owned).collect())
}

fn extra_claims<'j>(
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
    let string = |text: &str| Json::String(Cow::Owned(text.to_owned()));
    let roles = Json::Array(roles.iter().map(|role| string(role)).collect());
    let own = [
        ("sub", string(sub)),
        ("dom", string(tenant)),
        ("realm_access", Json::Object(vec![("roles".into(), roles)])),
    ];
    let own = own.into_iter().map(|(name, value)| (name.into(), value));
    let extra = extra
        .iter()
        .map(|(name, value)| (Cow::Owned(name.clone().into_owned()), value.clone().into_owned()));
    Json::Object(own.chain(extra).collect())
}
