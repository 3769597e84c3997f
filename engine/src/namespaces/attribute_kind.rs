//! The types of the attributes of resolvers.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The type of a resolver's attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AttributeKind {
    Text,
    Number,
    Boolean,
    Texts,
    Numbers,
}

impl fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Texts => "a list of strings",
            Self::Numbers => "a list of numbers",
        })
    }
}
