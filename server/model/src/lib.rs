//! What the service keeps: each record, and the inputs that make and change it.
//!
//! An input is read with `portcullis_engine::fields`, so that a refused one names every problem at once.

pub mod clock;
pub mod delivery;
pub mod egress_rules;
pub mod event;
pub mod ids;
pub mod page;
pub mod policy;
pub mod provider;
pub mod resolver;
pub mod resource;
pub mod rule;
pub mod schema;
pub mod service_key;
pub mod tenant;
pub mod webhook;

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use portcullis_engine::Json;
use portcullis_engine::fields::{string, text};
use portcullis_engine::invalid::{Place, Problems};
use serde::{Serialize, Serializer};
use url::Url;
use uuid::Uuid;

use crate::egress_rules::EgressRules;

/// Longest URL, in characters.
const MAX_URL: usize = 2_048;

/// An instant with the precision that the service stores and shows: milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch, as a store holds them.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// When a UUIDv7 was made.
    pub fn of(id: Uuid) -> Self {
        // Its first 48 bits (RFC 9562 section 5.7).
        Self((id.as_u128() >> 80) as i64)
    }

    /// So much later.
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Milliseconds since the Unix epoch.
    pub fn millis(self) -> i64 {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(instant: DateTime<Utc>) -> Self {
        Self(instant.timestamp_millis())
    }
}

impl Serialize for Timestamp {
    /// RFC 3339, UTC, milliseconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let instant = DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        serializer.serialize_str(&instant.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// Who changes something, and when.
#[derive(Clone, Debug)]
pub struct Authorship {
    /// A token's `sub`.
    pub actor: String,
    pub at: Timestamp,
}

/// A string of at most `max` characters, the empty one included.
fn short<'j>(
    max: usize,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<String> + Copy {
    move |json, at, problems| {
        let text = string(json, at, problems)?;
        if text.chars().count() > max {
            problems.expected(at, format!("at most {max} characters"));
            return None;
        }
        Some(text.to_owned())
    }
}

/// A URL that the egress `rules` allow, as it was written.
fn url<'j>(
    rules: &EgressRules,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<String> + Copy {
    move |json, at, problems| {
        let written = text(MAX_URL)(json, at, problems)?;
        let parsed = Url::parse(written).map_err(|error| format!("a URL, but there is: {error}"));
        match parsed.and_then(|url| rules.check_url(&url)) {
            Ok(()) => Some(written.to_owned()),
            Err(expected) => {
                problems.expected(at, expected);
                None
            }
        }
    }
}

/// Reads the id of a record.
fn id(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Uuid> {
    let id = json.as_str().and_then(|text| Uuid::try_parse(text).ok());
    if id.is_none() {
        problems.expected(at, "a UUID");
    }
    id
}
