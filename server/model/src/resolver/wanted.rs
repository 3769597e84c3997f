//! The resolvers of a bundle.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_engine::Json;
use portcullis_engine::fields::{Fields, boolean, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use sha2::{Digest, Sha256};
use utoipa::openapi::schema::Type;

use super::manifest::Manifest;
use super::update::ManifestUpdate;
use crate::egress_rules::EgressRules;
use crate::input::{self, Field, field};
use crate::{document, schema};

/// The members of an item that are not in its manifest.
const OWN_MEMBERS: [&str; 3] = ["sha256", "module", "enabled"];
/// Characters of a SHA-256 in hexadecimal.
const DIGEST_CHARS: usize = 64;

/// A resolver that a bundle names by its namespace.
#[derive(Clone, Debug)]
pub struct WantedResolver {
    /// With empty secrets if the stored ones stay.
    pub manifest: Manifest,
    pub secrets: SentSecrets,
    /// The digest of the module, in hexadecimal.
    pub sha256: String,
    /// The module, if the bundle brings it.
    pub module: Option<Vec<u8>>,
    pub enabled: bool,
}

/// Whether a bundle brings the secrets of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentSecrets {
    /// It has their values.
    Given,
    /// It has their names alone: the stored values stay.
    Kept,
}

impl WantedResolver {
    /// Reads the resolver at `at`: the members of its manifest, and of its module. Its endpoints must be ones
    /// that the egress `rules` allow.
    pub fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        rules: &EgressRules,
    ) -> Option<Self> {
        let members = json.as_object().unwrap_or_default();
        // A manifest refuses members that it does not know, such as those of the module.
        let (secrets, of_manifest) = manifest_members(members, at, problems);
        let of_manifest = json.as_object().map(|_| Json::Object(of_manifest));
        let manifest = of_manifest.as_ref();
        let manifest = manifest.and_then(|json| Manifest::field(rules).read(json, at, problems));
        let mut fields = Fields::open(json, at, problems)?;
        let sha256 = fields.required("sha256", digest);
        let module = fields.optional("module", bytes);
        let enabled = fields.optional("enabled", boolean).unwrap_or(true);
        if let (Some(module), Some(sha256)) = (&module, &sha256)
            && hexadecimal(&Sha256::digest(module)) != *sha256
        {
            fields.expected_at("module", format!("the module whose SHA-256 is `{sha256}`"));
        }
        Some(Self { manifest: manifest?, secrets, sha256: sha256?, module, enabled })
    }

    /// Returns the update that makes a stored resolver this one.
    pub fn update(&self) -> ManifestUpdate {
        let manifest = self.manifest.clone();
        ManifestUpdate {
            namespace: Some(manifest.namespace),
            description: Some(manifest.description),
            config: Some(manifest.config),
            secrets: (self.secrets == SentSecrets::Given).then_some(manifest.secrets),
            endpoints: Some(manifest.endpoints),
            allowed_hosts: Some(manifest.allowed_hosts),
            limits: Some(manifest.limits),
            cache_ttl_ms: Some(manifest.cache_ttl_ms),
            stale_if_error_ms: Some(manifest.stale_if_error_ms),
            enabled: Some(self.enabled),
        }
    }
}

document!(WantedResolver => {
    input::describe(|members| {
        let manifest = Manifest::declare(members, &EgressRules::default());
        members.required("sha256", field(digest, || {
            schema::string()
                .pattern(Some("^[0-9a-f]{64}$"))
                .description(Some("The digest of the module, in hexadecimal"))
        }));
        members.optional("module", field(bytes, || {
            schema::typed(Type::String)
                .content_encoding("base64")
                .content_media_type("application/wasm")
                .description(Some("Needed only if the tenant does not store a module of this digest"))
        }));
        members.optional("enabled", field(boolean, schema::boolean));
        manifest
    })
    .about("A resolver of a bundle. A secret that is `null` keeps its stored value: then all are")
});

/// Returns the members of the manifest. If all its secrets are `null`, they stay as they are stored, and the manifest
/// has empty ones in their place.
fn manifest_members<'j>(
    members: &[Member<'j>],
    at: &Place<'_>,
    problems: &mut Problems,
) -> (SentSecrets, Vec<Member<'j>>) {
    let mut sent = SentSecrets::Given;
    let mut of_manifest = Vec::with_capacity(members.len());
    for (name, value) in members {
        if OWN_MEMBERS.contains(&&**name) {
            continue;
        }
        let mut value = value.clone();
        if name == "secrets"
            && let Json::Object(secrets) = &mut value
        {
            sent = keep_secrets(secrets, &at.key("secrets"), problems);
        }
        of_manifest.push((name.clone(), value));
    }
    (sent, of_manifest)
}

/// Puts an empty text in the place of each secret that is `null`.
fn keep_secrets(
    secrets: &mut [Member<'_>],
    at: &Place<'_>,
    problems: &mut Problems,
) -> SentSecrets {
    let kept = secrets.iter().filter(|(_, value)| *value == Json::Null).count();
    if kept == 0 {
        return SentSecrets::Given;
    }
    if kept < secrets.len() {
        problems
            .expected(at, "a value for each secret, or `null` for each to keep the stored ones");
    }
    for (_, value) in secrets.iter_mut().filter(|(_, value)| *value == Json::Null) {
        // A header with an empty secret can be made, so that the rest of its template is checked.
        *value = Json::String("".into());
    }
    SentSecrets::Kept
}

fn digest(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = string(json, at, problems)?;
    // One form alone, so that equal digests are equal texts.
    let has_digits = text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c));
    if text.len() != DIGEST_CHARS || !has_digits {
        problems.expected(at, "the SHA-256 of a module: 64 lower-case hexadecimal digits");
        return None;
    }
    Some(text.to_owned())
}

fn bytes(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<u8>> {
    let decoded = STANDARD.decode(string(json, at, problems)?).ok();
    if decoded.is_none() {
        problems.expected(at, "the bytes of a module in base64 (RFC 4648, section 4)");
    }
    decoded
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
