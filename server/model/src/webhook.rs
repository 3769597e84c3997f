//! Webhooks and the event types that they subscribe to (`docs/semantics.md`, sections 7.1 and 7.3).

use std::fmt;

use portcullis_engine::fields::string as read_string;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;
use strum::{AsRefStr, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;
use uuid::Uuid;

use crate::authorship::signed_record;
use crate::egress_rules::EgressRules;
use crate::fields::{named, one_or_more, url, variant};
use crate::input::{self, Field, Members, field};
use crate::{Authorship, Timestamp, document, schema};

/// Shortest secret, in characters: a signature must not be forged by guessing.
const MIN_SECRET: usize = 16;
/// Longest secret, in characters.
const MAX_SECRET: usize = 256;
/// The beginning of a secret of Standard Webhooks, which stands for the bytes that its base64 has. Here a secret is its text.
const STANDARD_PREFIX: &str = "whsec_";
/// A secret without [`STANDARD_PREFIX`].
const NEW_SECRET: &str = "^(?!whsec_)[^\\u0000]*$";

/// A type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, AsRefStr, EnumString, IntoStaticStr, VariantArray)]
#[serde(into = "&'static str")]
#[strum(const_into_str)]
pub enum EventType {
    #[strum(serialize = "resource.registered")]
    ResourceRegistered,
    #[strum(serialize = "policy.rbac.changed")]
    PolicyRbacChanged,
    #[strum(serialize = "policy.abac.created")]
    PolicyAbacCreated,
    #[strum(serialize = "policy.abac.updated")]
    PolicyAbacUpdated,
    #[strum(serialize = "policy.abac.deleted")]
    PolicyAbacDeleted,
    #[strum(serialize = "access.denied")]
    AccessDenied,
    #[strum(serialize = "service_api_key.created")]
    ServiceKeyCreated,
    #[strum(serialize = "service_api_key.revoked")]
    ServiceKeyRevoked,
    /// Sent to one webhook on demand, whatever its `events`: to list it has no effect.
    #[strum(serialize = "webhook.test")]
    WebhookTest,
}

impl EventType {
    fn field<'j>() -> impl Field<'j, Value = Self> {
        variant()
    }
}

document!(EventType => EventType::field().schema());

/// A webhook as the store keeps it and the API shows it. The secret is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b67",
    "url": "https://audit.example.com/portcullis",
    "events": ["access.denied", "policy.rbac.changed"],
    "tenant_id": "hospital",
    "created_at": "2026-05-16T09:30:00.000Z",
    "updated_at": null,
    "managed_by": null,
})))]
pub struct WebhookRecord {
    pub id: Uuid,
    /// As it was sent.
    pub url: String,
    /// At least one, each once.
    pub events: Vec<EventType>,
    pub tenant_id: String,
    #[serde(skip)]
    pub created_by: String,
    pub created_at: Timestamp,
    #[schema(required)]
    pub updated_at: Option<Timestamp>,
    /// The owner, if it is managed.
    #[schema(required)]
    pub managed_by: Option<String>,
}

signed_record!(WebhookRecord { updated_at });

/// The signing secret of a webhook. It is never shown again, not even in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key of the signatures: the text in UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns what is expected of a secret that is registered from now on, if this one is refused. A receiver with a library of
    /// Standard Webhooks would check the signatures by another key.
    pub fn refused_if_new(&self) -> Option<String> {
        self.0.starts_with(STANDARD_PREFIX).then(|| {
            format!(
                "a secret that does not begin with `{STANDARD_PREFIX}`: the key of the signatures is its text, so choose a \
                 text of your own, and give a library that expects `{STANDARD_PREFIX}` this prefix and the base64 of it"
            )
        })
    }

    /// A secret that may be stored already.
    pub(crate) fn field<'j>() -> impl Field<'j, Value = Self> {
        field(Self::read, Self::describe)
    }

    /// A secret that is registered.
    fn new_field<'j>() -> impl Field<'j, Value = Self> {
        field(
            |json, at, problems| {
                let secret = Self::read(json, at, problems)?;
                let Some(expected) = secret.refused_if_new() else { return Some(secret) };
                problems.expected(at, expected);
                None
            },
            // This pattern replaces the one of every string, so it excludes U+0000 itself.
            || Self::describe().pattern(Some(NEW_SECRET)),
        )
    }

    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = read_string(json, at, problems)?;
        // JSON Schema counts the characters of a string too, and not its bytes.
        if (MIN_SECRET..=MAX_SECRET).contains(&text.chars().count()) {
            return Some(Self(text.to_owned()));
        }
        problems.expected(at, format!("{MIN_SECRET} to {MAX_SECRET} characters"));
        None
    }

    fn describe() -> ObjectBuilder {
        let about = "Deliveries are signed with it; it is never shown again";
        schema::short(MAX_SECRET).min_length(Some(MIN_SECRET)).description(Some(about))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs must not have the text.
        f.write_str("Secret")
    }
}

/// The body that creates a webhook.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub url: String,
    pub events: Vec<EventType>,
    pub secret: Secret,
}

impl NewWebhook {
    /// Reads a request body; the address must be one that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, rules))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        let url = members.required("url", url(rules));
        let events = members.required("events", events());
        let secret = members.required("secret", Secret::new_field());
        Some(Self { url: url?, events: events?, secret: secret? })
    }

    /// Returns the record of a new webhook, and its secret, which is stored apart from it.
    pub fn into_record(
        self,
        id: Uuid,
        tenant_id: &str,
        by: &Authorship,
    ) -> (WebhookRecord, Secret) {
        let record = WebhookRecord {
            id,
            url: self.url,
            events: self.events,
            tenant_id: tenant_id.to_owned(),
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_at: None,
            managed_by: None,
        };
        (record, self.secret)
    }
}

document!(NewWebhook, naming EventType => {
    input::describe(|members| NewWebhook::declare(members, &EgressRules::default())).example(json!({
        "url": "https://audit.example.com/portcullis",
        "events": ["access.denied", "policy.rbac.changed"],
        "secret": "keep-this-out-of-your-repository",
    }))
});

/// The body that updates a webhook: what is absent stays.
#[derive(Clone, Debug)]
pub struct WebhookUpdate {
    pub url: Option<String>,
    pub events: Option<Vec<EventType>>,
    pub secret: Option<Secret>,
}

impl WebhookUpdate {
    /// Reads a request body; the address must be one that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, rules))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        Some(Self {
            url: members.change("url", url(rules)),
            events: members.change("events", events()),
            secret: members.change("secret", Secret::new_field()),
        })
    }

    /// Returns `old` with the update applied. The record does not show whether the secret changes.
    pub fn applied_to(&self, old: &WebhookRecord) -> WebhookRecord {
        let mut new = old.clone();
        if let Some(url) = &self.url {
            new.url.clone_from(url);
        }
        if let Some(events) = &self.events {
            new.events.clone_from(events);
        }
        new
    }
}

document!(WebhookUpdate, naming EventType => {
    input::describe(|members| WebhookUpdate::declare(members, &EgressRules::default()))
        .example(json!({"events": ["access.denied"]}))
});

/// Event types, at least one; a repeated one counts once.
pub(crate) fn events<'j>() -> impl Field<'j, Value = Vec<EventType>> {
    one_or_more(named::<EventType, _>(EventType::field()), "type of event")
}

#[cfg(test)]
mod tests;
