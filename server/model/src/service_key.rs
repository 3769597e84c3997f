//! Service API keys (`docs/semantics.md`, section 6.8).
//!
//! A key reads `pck_<key id>_<secret><checksum>`: the id finds its row, the secret is 256 random bits of
//! which only a SHA-256 is stored, and the checksum tells a scanner of leaked secrets a key from noise.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::MAX_DOMAIN;
use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::fields::{instant, named, one_or_more, owned, short, text, variant};
use crate::input::{self, Field, Members};
use crate::{Authorship, Timestamp, document, schema};

const PREFIX: &str = "pck_";
const SECRET_BYTES: usize = 32;
/// Characters of [`SECRET_BYTES`] in base64url without padding.
const SECRET_CHARS: usize = 43;
const CHECKSUM_CHARS: usize = 6;
/// Longest name, in characters.
const MAX_NAME: usize = 256;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 4_096;

/// A permission of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(into = "&'static str")]
#[strum(const_into_str)]
pub enum Permission {
    #[strum(serialize = "resources:read")]
    ResourcesRead,
    #[strum(serialize = "resources:write")]
    ResourcesWrite,
    #[strum(serialize = "policies:read")]
    PoliciesRead,
    #[strum(serialize = "policies:write")]
    PoliciesWrite,
    #[strum(serialize = "webhooks:read")]
    WebhooksRead,
    #[strum(serialize = "webhooks:write")]
    WebhooksWrite,
    #[strum(serialize = "resolvers:read")]
    ResolversRead,
    #[strum(serialize = "resolvers:write")]
    ResolversWrite,
    #[strum(serialize = "audit:read")]
    AuditRead,
    #[strum(serialize = "access:evaluate")]
    AccessEvaluate,
    /// To ask who may do what: search, permissions, and with `policies:read` also plans and the matrix.
    #[strum(serialize = "access:search")]
    AccessSearch,
    /// To change managed records, and to lift the limits of an apply.
    #[strum(serialize = "policies:force")]
    PoliciesForce,
    #[strum(serialize = "entities:read")]
    EntitiesRead,
    #[strum(serialize = "entities:write")]
    EntitiesWrite,
    #[strum(serialize = "relations:read")]
    RelationsRead,
    #[strum(serialize = "relations:write")]
    RelationsWrite,
    /// To assume tuples in checks. Who may say so decides with it: no other permission has it inside.
    #[strum(serialize = "relations:assume")]
    RelationsAssume,
    #[strum(serialize = "decisions:read")]
    DecisionsRead,
    /// To erase recorded decisions about a person.
    #[strum(serialize = "decisions:write")]
    DecisionsWrite,
}

impl Permission {
    /// The permissions of a key that is created without `permissions`. Later versions add none to them: a key must not
    /// gain rights that nobody named.
    pub const DEFAULT: [Self; 8] = [
        Self::ResourcesRead,
        Self::ResourcesWrite,
        Self::PoliciesRead,
        Self::PoliciesWrite,
        Self::WebhooksRead,
        Self::WebhooksWrite,
        Self::ResolversRead,
        Self::ResolversWrite,
    ];

    fn field<'j>() -> impl Field<'j, Value = Self> {
        variant()
    }
}

document!(Permission => Permission::field().schema());

/// A key as the store keeps it and the API lists it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64",
    "name": "roster sync",
    "description": null,
    "prefix": "pck_019e301f05c07a4e9c1b5f0e8d3a7b64_",
    "permissions": ["policies:read", "policies:write"],
    "domain": null,
    "created_by": "ines-admin",
    "created_at": "2026-05-16T09:30:00.000Z",
    "expires_at": "2099-12-31T00:00:00.000Z",
    "last_used_at": null,
})))]
pub struct ServiceKeyRecord {
    pub id: Uuid,
    pub name: String,
    #[schema(required)]
    pub description: Option<String>,
    /// The part of the key that is not a secret.
    pub prefix: String,
    pub permissions: Vec<Permission>,
    /// The domain of the key's checks; a check by a key without one names its domain.
    #[schema(required)]
    pub domain: Option<String>,
    pub created_by: String,
    pub created_at: Timestamp,
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    /// Lags behind by up to a minute.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    #[serde(skip)]
    pub secret_hash: Vec<u8>,
}

/// The body that creates a key.
#[derive(Clone, Debug)]
pub struct NewServiceKey {
    pub name: String,
    pub description: Option<String>,
    pub permissions: Vec<Permission>,
    /// The domain of the key's checks.
    pub domain: Option<String>,
    pub expires_at: Option<DateTime<Utc>>,
}

impl NewServiceKey {
    /// Returns the input of a key with the default permissions.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: None,
            permissions: Permission::DEFAULT.to_vec(),
            domain: None,
            expires_at: None,
        }
    }

    /// Reads a request body; a key that would have expired at `now` is refused.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, now: DateTime<Utc>) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, now))
    }

    fn declare(members: &mut Members<'_, '_>, now: DateTime<Utc>) -> Option<Self> {
        let permissions = one_or_more(named::<Permission, _>(Permission::field()), "permission");
        let name = members.required("name", text(MAX_NAME));
        let description = members.optional("description", short(MAX_DESCRIPTION));
        let permissions = members.optional(
            "permissions",
            permissions.about(
                "When absent, all but `audit:read`, `access:evaluate`, `access:search`, `policies:force`, \
                 `entities:read`, `entities:write`, `relations:read`, `relations:write`, `relations:assume`, `decisions:read` and \
                 `decisions:write`",
            ),
        );
        let domain = domain().about("The domain of the key's checks, in `saas` mode");
        let domain = members.optional("domain", domain);
        let expires_at = members.optional("expires_at", instant().about("In the future"));
        // The fault is noted and the reading goes on, so that the other members are judged too.
        if expires_at.is_some_and(|instant| instant <= now) {
            members.expected_at("expires_at", "an instant in the future");
        }
        Some(Self {
            name: name?,
            description,
            permissions: permissions.unwrap_or_else(|| Permission::DEFAULT.to_vec()),
            domain,
            expires_at,
        })
    }

    /// Returns the record of a new key, and the key itself, which is never shown again.
    pub fn issue(self, id: Uuid, by: &Authorship) -> (ServiceKeyRecord, String) {
        let mut secret = [0; SECRET_BYTES];
        // A machine without randomness must not issue keys; nothing can be answered then.
        #[expect(clippy::expect_used, reason = "aws-lc-rs fails only if the process is broken")]
        SystemRandom::new().fill(&mut secret).expect("the system gives random numbers");
        // The checksum covers everything before it, the prefix and the id included.
        let text = format!("{}{}", key_prefix(id), URL_SAFE_NO_PAD.encode(secret));
        let key = format!("{text}{}", checksum(&text));
        let record = ServiceKeyRecord {
            id,
            name: self.name,
            description: self.description,
            prefix: key_prefix(id),
            permissions: self.permissions,
            domain: self.domain,
            created_by: by.actor.clone(),
            created_at: by.at,
            expires_at: self.expires_at.map(Timestamp::from),
            last_used_at: None,
            secret_hash: Sha256::digest(secret).to_vec(),
        };
        (record, key)
    }
}

document!(NewServiceKey, naming Permission => {
    input::describe(|members| NewServiceKey::declare(members, DateTime::UNIX_EPOCH)).example(json!({
        "name": "roster sync",
        "permissions": ["policies:read", "policies:write"],
        "expires_at": "2099-12-31T00:00:00Z",
    }))
});

/// The domain of a key: as in a rule, but one.
fn domain<'j>() -> impl Field<'j, Value = String> {
    owned(read_domain, || schema::text(MAX_DOMAIN).pattern(Some("^[^*]+$")))
}

fn read_domain<'j>(json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<&'j str> {
    let domain = json.as_str().filter(|text| is_domain(text));
    if domain.is_none() {
        problems.expected(at, DOMAIN_FORM);
    }
    domain
}

/// The form of the domain of a key; completes "expected …".
pub const DOMAIN_FORM: &str = "one domain of 1 to 256 characters without `*`";

/// Returns whether `text` can be the domain of a key. `*` cannot: rules mean every domain by it.
pub fn is_domain(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= MAX_DOMAIN && !text.contains(['*', '\0'])
}

/// `pck_<key id>_`
pub fn key_prefix(id: Uuid) -> String {
    format!("{PREFIX}{}_", id.simple())
}

fn checksum(text: &str) -> String {
    // Base64 is ASCII and a digest has 43 characters of it, so the cut never panics.
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))[..CHECKSUM_CHARS].to_owned()
}

/// Returns whether `text` begins like a service key.
pub fn resembles_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// A key that somebody sent: well-formed, but not known to be real.
#[derive(Debug)]
pub struct PresentedKey {
    pub id: Uuid,
    secret_hash: [u8; 32],
}

impl PresentedKey {
    /// Takes a key apart; `None` when it is not one of ours.
    pub fn parse(key: &str) -> Option<Self> {
        // A secret may contain `_`, but the id cannot: the first one after the prefix is the separator.
        let (id, rest) = key.strip_prefix(PREFIX)?.split_once('_')?;
        let (text, sum) = key.split_at_checked(key.len().checked_sub(CHECKSUM_CHARS)?)?;
        // The checksum proves nothing. It refuses mistyped keys before anything asks the store.
        if rest.len() != SECRET_CHARS + CHECKSUM_CHARS || checksum(text) != sum {
            return None;
        }
        // Other spellings of a UUID, such as one in capitals, would be second spellings of the same key.
        let id = Uuid::try_parse(id).ok().filter(|uuid| uuid.simple().to_string() == id)?;
        let secret = URL_SAFE_NO_PAD.decode(rest.get(..SECRET_CHARS)?).ok()?;
        Some(Self { id, secret_hash: Sha256::digest(secret).into() })
    }

    /// Returns whether this is the key with `secret_hash`. The secrets are compared in constant time.
    pub fn proves(&self, secret_hash: &[u8]) -> bool {
        // The comparison takes the same time wherever the hashes differ.
        verify_slices_are_equal(&self.secret_hash, secret_hash).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued() -> (ServiceKeyRecord, String) {
        let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
        NewServiceKey::named("ci").issue(Uuid::from_u128(0x0123_4567), &by)
    }

    #[test]
    fn a_key_proves_itself_alone() {
        let (record, key) = issued();
        let presented = PresentedKey::parse(&key).expect("well-formed");
        assert_eq!(presented.id, record.id);
        assert!(presented.proves(&record.secret_hash));
        let (other, _) = issued();
        assert!(!presented.proves(&other.secret_hash), "another secret");
        assert!(key.starts_with(&record.prefix) && key.is_ascii());
    }

    #[test]
    fn later_permissions_are_for_keys_that_name_them() {
        let named = |permission| Permission::DEFAULT.contains(&permission);
        let unnamed: Vec<_> =
            Permission::VARIANTS.iter().copied().filter(|one| !named(*one)).collect();
        assert_eq!(
            unnamed,
            [
                Permission::AuditRead,
                Permission::AccessEvaluate,
                Permission::AccessSearch,
                Permission::PoliciesForce,
                Permission::EntitiesRead,
                Permission::EntitiesWrite,
                Permission::RelationsRead,
                Permission::RelationsWrite,
                Permission::RelationsAssume,
                Permission::DecisionsRead,
                Permission::DecisionsWrite,
            ]
        );
    }

    #[test]
    fn every_changed_character_is_refused() {
        let (_, key) = issued();
        for index in 0..key.len() {
            let mut changed = key.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(PresentedKey::parse(&changed).is_none(), "{index}");
        }
        for bad in ["", "pck_", "pck__", &key[..key.len() - 1], &format!("{key}A"), "pck_ä_ö"] {
            assert!(PresentedKey::parse(bad).is_none(), "{bad}");
        }
    }
}
