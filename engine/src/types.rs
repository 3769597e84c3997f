//! Types: the properties that a tenant declares for its subjects, its resources, `context` and `action`
//! (`docs/semantics.md`, section 12.9).

mod check;
mod declared;
mod references;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::json::Json;
use crate::relation::RelationNames;
use crate::value::parse_instant;

pub use crate::entities::USER;
pub(crate) use declared::DeclaredNames;
pub(crate) use references::KEYS;
pub use references::{MAX_REFERENCES, ReferenceFault};

/// The entry whose properties are `context.*`.
pub const CONTEXT: &str = "context";
/// The entry whose properties are `action.*`.
pub const ACTION: &str = "action";

/// The type of the values of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum PropertyType {
    /// Any string.
    Text,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A string that is an RFC 3339 date-time.
    Datetime,
    /// A string that is an IPv4 or IPv6 address.
    Ip,
    /// A list of strings.
    #[serde(rename = "list<text>")]
    #[strum(serialize = "list<text>")]
    Texts,
    /// A list of numbers.
    #[serde(rename = "list<number>")]
    #[strum(serialize = "list<number>")]
    Numbers,
}

impl PropertyType {
    /// Returns whether a property of this type may have the value.
    pub fn admits(self, value: &Json<'_>) -> bool {
        match self {
            Self::Text => value.as_str().is_some(),
            Self::Number => matches!(value, Json::Number(_)),
            Self::Boolean => matches!(value, Json::Bool(_)),
            Self::Datetime | Self::Ip => value.as_str().is_some_and(|text| self.admits_text(text)),
            Self::Texts => is_list_of(value, |item| matches!(item, Json::String(_))),
            Self::Numbers => is_list_of(value, |item| matches!(item, Json::Number(_))),
        }
    }

    /// Returns whether a text is a value of this type.
    pub(crate) fn admits_text(self, text: &str) -> bool {
        match self {
            Self::Text => true,
            Self::Datetime => parse_instant(text).is_some(),
            Self::Ip => text.parse::<IpAddr>().is_ok(),
            Self::Number | Self::Boolean | Self::Texts | Self::Numbers => false,
        }
    }
}

fn is_list_of(value: &Json<'_>, is_item: fn(&Json<'_>) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(is_item))
}

impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Datetime => "an RFC 3339 date-time",
            Self::Ip => "an IP address",
            Self::Texts => "a list of strings",
            Self::Numbers => "a list of numbers",
        })
    }
}

/// The only place that a property is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum PropertySource {
    /// The attributes of the request.
    Request,
    /// The claim of that name, if the caller is the subject.
    Token,
    /// The entity in the directory.
    Directory,
}

/// A declared property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The type of its values.
    pub kind: PropertyType,
    /// The type of the entity whose id the value is, if the property is a reference, which is a text.
    pub to: Option<Arc<str>>,
    /// The only place that it is taken from; `None` for every place.
    pub from: Option<PropertySource>,
}

impl Property {
    /// Returns the type of its values as it is declared, such as `text` or `ref<ticket>`.
    pub fn declared_type(&self) -> Cow<'static, str> {
        match &self.to {
            Some(to) => format!("ref<{to}>").into(),
            None => self.kind.into_str().into(),
        }
    }
}

/// The properties of a type by name.
pub type DeclaredProperties = BTreeMap<String, Property>;

/// The types of a tenant, with the properties and the relations of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    properties: BTreeMap<String, DeclaredProperties>,
    relations: RelationNames,
}

impl Types {
    /// Returns the types with relations.
    #[must_use]
    pub fn with_relations(self, relations: RelationNames) -> Self {
        Self { relations, ..self }
    }

    /// Returns the relations of all types.
    pub fn relations(&self) -> &RelationNames {
        &self.relations
    }

    /// Returns whether no type has a property.
    pub fn is_empty(&self) -> bool {
        self.properties.values().all(BTreeMap::is_empty)
    }

    /// Returns the properties of a type; `None` if the type is not declared.
    pub fn properties(&self, of: &str) -> Option<&DeclaredProperties> {
        self.properties.get(of)
    }

    /// Returns a declared property.
    pub fn property(&self, of: &str, name: &str) -> Option<&Property> {
        self.properties.get(of)?.get(name)
    }

    /// Returns each type with its properties, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DeclaredProperties)> {
        self.properties.iter().map(|(name, properties)| (&**name, properties))
    }
}

impl<P: IntoIterator<Item = (String, Property)>> FromIterator<(String, P)> for Types {
    fn from_iter<I: IntoIterator<Item = (String, P)>>(types: I) -> Self {
        let types = types.into_iter();
        let types = types.map(|(name, properties)| (name, properties.into_iter().collect()));
        Self { properties: types.collect(), relations: RelationNames::default() }
    }
}

#[cfg(test)]
mod tests;
