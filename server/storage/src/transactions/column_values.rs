//! The columns of records: each value as its column keeps it.

use portcullis_engine::{Effect, Format, ResourcePattern};
use portcullis_model::Timestamp;
use portcullis_model::apply::ObjectKind;
use portcullis_model::delivery::DeliveryState;
use portcullis_model::draft::DraftMode;
use portcullis_model::policy::RuleData;
use portcullis_model::proposal::ProposalState;
use portcullis_model::provider::RolesFormat;
use portcullis_model::resolver::{Manifest, ModuleRecord, SecretNames};
use portcullis_model::rule::RuleOrigin;
use portcullis_model::sign_in::SignIn;
use portcullis_model::webhook::EventType;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

/// Returns `count` as a column keeps it. One that is too large becomes the largest.
pub(crate) fn number(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// A value of a record.
pub(crate) trait ColumnValue: Sized {
    /// The type of its column.
    type Stored;

    /// Returns the value; `None` if the column has no such one.
    fn read(stored: Self::Stored) -> Option<Self>;
}

/// Declares types that are kept in columns of the type `$stored`, and how each is read.
macro_rules! kept_in {
    ($stored:ty, $read:expr => $($type:ty),+) => {$(
        impl ColumnValue for $type {
            type Stored = $stored;

            fn read(stored: $stored) -> Option<Self> {
                let read: fn($stored) -> Option<Self> = $read;
                read(stored)
            }
        }
    )+};
}

kept_in!(Self, Some => bool, i32, i64, Option<i64>, String, Option<String>, Uuid, Option<Uuid>, Vec<u8>);
kept_in!(i64, |number| number.try_into().ok() => u64);
kept_in!(i64, |millis| Some(Timestamp::from_millis(millis)) => Timestamp);
kept_in!(Option<i64>, |millis| Some(millis.map(Timestamp::from_millis)) => Option<Timestamp>);
kept_in!(String, |text| text.parse().ok() => DeliveryState, DraftMode, Effect, Format, ObjectKind, ProposalState, RolesFormat, RuleOrigin);
kept_in!(String, |text| ResourcePattern::parse(&text) => ResourcePattern);
kept_in!(String, |text| RuleData::from_stored(text).ok() => RuleData);
kept_in!(String, |text| RawValue::from_string(text).ok() => Box<RawValue>);
kept_in!(String, |text| serde_json::from_str(&text).ok() => ModuleRecord, Manifest<SecretNames>, Value, Vec<String>);
kept_in!(Option<String>, |text| text.map(|text| serde_json::from_str(&text)).transpose().ok() => Option<SignIn>);
kept_in!(String, |text| {
    let names: Vec<String> = serde_json::from_str(&text).ok()?;
    names.iter().map(|name| name.parse().ok()).collect()
} => Vec<EventType>);
