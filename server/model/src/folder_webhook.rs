//! Webhooks of a tenant folder, whose secrets are kept elsewhere.

use std::fmt;

use portcullis_engine::Json;
use portcullis_engine::invalid::{Place, Problems};
use serde_json::json;

use crate::egress_rules::EgressRules;
use crate::fields::{parsed, url};
use crate::input::{self, Field, Members};
use crate::webhook::{EventType, events};
use crate::{document, schema};

/// The beginning and the end of a reference.
const REFERENCE: (&str, &str) = ("${env:", "}");
/// The names of environment variables.
const PATTERN: &str = r"^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$";

/// A webhook of a tenant folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderWebhook {
    pub url: String,
    /// At least one, each once.
    pub events: Vec<EventType>,
    /// `None` keeps the secret that the service has.
    pub secret: Option<SecretReference>,
}

impl FolderWebhook {
    /// Reads the webhook at `at`. The service decides whether it may call the address.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let rules = EgressRules { allow_http: true, ..EgressRules::default() };
        let url = members.required("url", url(&rules));
        let events = events().about("The types of the events that the address receives");
        let events = members.required("events", events);
        let secret = members.optional("secret", SecretReference::field());
        Some(Self { url: url?, events: events?, secret })
    }
}

document!(FolderWebhook as "Webhook", naming EventType => {
    input::describe(FolderWebhook::declare).about("An address that receives events").example(json!({
        "url": "https://audit.example.com/portcullis",
        "events": ["access.denied", "policy.rbac.changed"],
        "secret": "${env:HOOK_SECRET}",
    }))
});

/// The name of the environment variable that has a secret: `${env:NAME}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretReference(String);

impl SecretReference {
    /// Returns the variable that `text` refers to; `None` if it is not a reference.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix(REFERENCE.0)?.strip_suffix(REFERENCE.1)?;
        let is_sound = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
        is_sound.then(|| Self(name.to_owned()))
    }

    /// Returns the name of the variable.
    pub fn variable(&self) -> &str {
        &self.0
    }

    fn field<'j>() -> impl Field<'j, Value = Self> {
        parsed(
            Self::parse,
            // The message does not repeat the value: it may be a secret.
            || {
                "a reference such as `${env:HOOK_SECRET}`, because files are not the place for secrets"
                    .to_owned()
            },
            || {
                let about =
                    "The variable that `plan` and `apply` read; the stored secret stays without it";
                schema::string().pattern(Some(PATTERN)).description(Some(about))
            },
        )
    }
}

impl fmt::Display for SecretReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", REFERENCE.0, self.0, REFERENCE.1)
    }
}
