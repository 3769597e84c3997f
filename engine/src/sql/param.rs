//! Parameters of a condition in SQL.

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::relations::ObjectIds;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlParam {
    /// A text.
    Text(Box<str>),
    /// A 64-bit integer.
    Integer(i64),
    /// A double.
    Number(f64),
    /// A boolean; SQLite has 0 and 1 instead.
    Bool(bool),
    /// An instant, as RFC 3339 text with microseconds; SQLite has a text with milliseconds instead.
    Instant(DateTime<Utc>),
    /// A UUID, as lower-case canonical text; SQLite has the text.
    Uuid(Uuid),
    /// A date, as `YYYY-MM-DD`; SQLite has the text.
    Date(NaiveDate),
    /// Ids: an array of texts; SQLite has the text of a JSON array.
    Ids(IdType, ObjectIds),
}

/// The type of the column that ids are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdType {
    /// Texts.
    Text,
    /// UUIDs in lower-case canonical form.
    Uuid,
    /// 64-bit integers in decimal form.
    Integer,
}

impl SqlParam {
    /// Returns the text of an instant.
    pub fn instant_text(instant: DateTime<Utc>) -> String {
        instant.to_rfc3339_opts(SecondsFormat::Micros, true)
    }

    /// Returns the bytes of the ids; 0 for a single value.
    pub(super) fn bytes_of_ids(&self) -> usize {
        match self {
            Self::Ids(_, ids) => ids.iter().map(|id| id.len()).sum(),
            _ => 0,
        }
    }

    /// Returns the value as SQLite has it: no booleans, which drivers refuse, instants, UUIDs, dates or arrays.
    pub(super) fn to_sqlite(&self) -> Self {
        match self {
            Self::Bool(value) => Self::Integer((*value).into()),
            Self::Instant(instant) => text(instant.to_rfc3339_opts(SecondsFormat::Millis, true)),
            Self::Uuid(uuid) => text(uuid.to_string()),
            Self::Date(date) => text(date.to_string()),
            Self::Ids(kind, ids) => text(json_array(*kind, ids)),
            Self::Text(_) | Self::Integer(_) | Self::Number(_) => self.clone(),
        }
    }
}

impl Serialize for SqlParam {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Uuid(uuid) => serializer.collect_str(uuid),
            Self::Date(date) => serializer.collect_str(date),
            Self::Instant(instant) => serializer.serialize_str(&Self::instant_text(*instant)),
            Self::Ids(_, ids) => serializer.collect_seq(ids.iter()),
        }
    }
}

fn text(text: String) -> SqlParam {
    SqlParam::Text(text.into())
}

/// Returns the JSON array of ids. SQLite compares integers with numbers alone.
fn json_array(kind: IdType, ids: &ObjectIds) -> String {
    // These ids are canonical integers, and so numbers of JSON as they are.
    match kind {
        IdType::Integer => format!("[{}]", ids.join(",")),
        // Texts have a form in JSON.
        IdType::Text | IdType::Uuid => serde_json::to_string(&ids[..]).unwrap_or_default(),
    }
}
