//! The webhooks of a bundle.

use serde_json::json;

use crate::document;
use crate::egress_rules::EgressRules;
use crate::fields::{named, url};
use crate::input::{self, Field, Members, object};
use crate::webhook::{EventType, Secret, events};

/// A webhook that a bundle names by its URL.
#[derive(Clone, Debug)]
pub struct WantedWebhook {
    pub url: String,
    pub events: Vec<EventType>,
    /// Without one, the stored secret stays.
    pub secret: Option<Secret>,
}

impl WantedWebhook {
    /// A webhook of a bundle; the address must be one that the egress `rules` allow.
    pub fn field<'j>(rules: &EgressRules) -> impl Field<'j, Value = Self> {
        named::<Self, _>(object(|members| Self::declare(members, rules)))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        let url = members.required("url", url(rules));
        let events = members.required("events", events());
        let secret = members.optional("secret", Secret::field());
        Some(Self { url: url?, events: events?, secret })
    }
}

document!(WantedWebhook, naming EventType => {
    input::describe(|members| WantedWebhook::declare(members, &EgressRules::default()))
        .about("A webhook of a bundle; without `secret` the stored one stays")
        .example(json!({
            "url": "https://audit.example.com/portcullis",
            "events": ["access.denied", "policy.rbac.changed"],
            "secret": "keep-this-out-of-your-repository",
        }))
});
