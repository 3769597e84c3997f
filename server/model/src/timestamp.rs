//! Instants as the service stores and shows them.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::{document, schema};

/// An instant, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `millis` milliseconds after the Unix epoch, as a store holds it.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Reads an RFC 3339 instant, cut to milliseconds.
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.to_utc().into())
    }

    /// The instant at which a UUIDv7 was made.
    pub fn from_id(id: Uuid) -> Self {
        // The first 48 bits of a UUIDv7 are its time (RFC 9562 section 5.7).
        Self((id.as_u128() >> 80) as i64)
    }

    /// The instant `duration` later.
    pub fn after(self, duration: Duration) -> Self {
        // A time of centuries, such as one without an end, stays at the last instant.
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

impl fmt::Display for Timestamp {
    /// RFC 3339, UTC, milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An instant beyond the calendar of `chrono` is shown as the epoch, since formatting cannot fail.
        let instant = DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        f.write_str(&instant.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'d> Deserialize<'d> for Timestamp {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not an instant"))
    }
}

document!(Timestamp => schema::instant().description(Some("UTC, with milliseconds")));
