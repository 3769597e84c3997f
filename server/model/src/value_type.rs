//! The type of the values of a property as it is declared (`docs/semantics.md`, sections 12.9 and 12.15).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use portcullis_engine::Json;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::names::names;
use portcullis_engine::nearest::any_of;
use portcullis_engine::types::PropertyType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::entity::is_type;
use crate::input::{Field, field};
use crate::schema;

/// The type of the values of a property: one of the engine's, or `ref<type>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// The type of the values; that of a reference is a text.
    pub kind: PropertyType,
    /// The type whose ids the values of a reference are.
    pub to: Option<Arc<str>>,
}

/// The text is the name of no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownValueType;

impl fmt::Display for UnknownValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&any_of(names::<PropertyType>().chain(["ref<type>"])))
    }
}

impl FromStr for ValueType {
    type Err = UnknownValueType;

    fn from_str(text: &str) -> Result<Self, UnknownValueType> {
        let to = text.strip_prefix("ref<").and_then(|rest| rest.strip_suffix('>'));
        // A reference to a type without a valid name is parsed as another type, which fails.
        match to.filter(|to| is_type(to)) {
            // The id of an entity is a text wherever values are compared.
            Some(to) => Ok(Self { kind: PropertyType::Text, to: Some(to.into()) }),
            None => text.parse().map(|kind| Self { kind, to: None }).map_err(|_| UnknownValueType),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(to) => write!(f, "ref<{to}>"),
            None => f.write_str(self.kind.into_str()),
        }
    }
}

impl Serialize for ValueType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ValueType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The type of the values of a property.
pub(crate) fn value_type<'j>() -> impl Field<'j, Value = ValueType> {
    field(read, || {
        let reference = schema::string().pattern(Some(r"^ref<[^:\s\x00-\x1f\x7f-\x9f]+>$"));
        let reference =
            reference.description(Some("The id of an entity of a declared type, or of `user`"));
        schema::one_of([schema::choice(names::<PropertyType>()).into(), reference.into()])
    })
}

fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<ValueType> {
    let fault = match json.as_str().map(str::parse) {
        Some(Ok(read)) => return Some(read),
        Some(Err(fault)) => fault,
        None => UnknownValueType,
    };
    problems.expected(at, fault.to_string());
    None
}
