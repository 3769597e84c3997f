//! Parameters of a condition in SQL.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, Serializer};

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
    /// An instant, as RFC 3339 text with microseconds.
    Instant(DateTime<Utc>),
}

impl SqlParam {
    /// Returns the text of an instant.
    pub fn instant_text(instant: DateTime<Utc>) -> String {
        instant.to_rfc3339_opts(SecondsFormat::Micros, true)
    }
}

impl Serialize for SqlParam {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Instant(instant) => serializer.serialize_str(&Self::instant_text(*instant)),
        }
    }
}
