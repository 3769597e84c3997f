//! The secrets of a resolver: they are put into the headers of its requests by the host, and nobody sees them
//! again.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::{MAX_ENTRIES, MAX_VALUE, value};
use crate::fields::{Names, map, map_schema};
use crate::input::Field;
use crate::schema::{self, AnySchema};

/// Longest name, in characters.
const MAX_NAME: usize = 64;
const NAME: &str = r"^[A-Za-z0-9_.-]{1,64}$";

/// Secrets by their names. Never shown, not even in a log.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    pub(super) fn field<'j>() -> impl Field<'j, Value = Self> {
        let names = Names { fault: name_fault, schema: || schema::string().pattern(Some(NAME)) };
        map(MAX_ENTRIES, "members", names, value())
            .about(
                "For the headers of endpoints. Encrypted at rest, never shown again, and never given to the module",
            )
            .map(Self)
    }

    /// The schema of secrets in a file: `null` keeps the value that the service has.
    pub(super) fn schema_of_file() -> AnySchema {
        let value = schema::nullable(schema::short(MAX_VALUE));
        let value = schema::about(
            value,
            "The secret, `${env:NAME}` for the value of a variable, or `null` for the stored one",
        );
        let names = schema::string().pattern(Some(NAME));
        let map = map_schema(MAX_ENTRIES, value).property_names(Some(names));
        map.description(Some("Secrets by name, for the headers of endpoints")).into()
    }

    /// The secret of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The text that is encrypted.
    pub fn to_plain(&self) -> Vec<u8> {
        // The map is sorted, so that the same secrets give the same text.
        serde_json::json!(self.0).to_string().into_bytes()
    }

    /// From what was decrypted; `None` if [`Secrets::to_plain`] did not write it.
    pub fn from_plain(plain: &[u8]) -> Option<Self> {
        serde_json::from_slice(plain).ok().map(Self)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the number is shown, so that no log has a value.
        write!(f, "Secrets({})", self.0.len())
    }
}

/// Which secrets there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretNames(Vec<String>);

impl SecretNames {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self(secrets.0.keys().cloned().collect())
    }

    /// Secrets of these names, in the place of those that cannot be read; each is empty.
    pub fn unread(&self) -> Secrets {
        Secrets(self.0.iter().map(|name| (name.clone(), String::new())).collect())
    }
}

/// Whether `name` can stand in a template.
pub(super) fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn name_fault(name: &str) -> Option<String> {
    (!is_name(name)).then(|| format!("a name of 1 to {MAX_NAME} of `A-Z a-z 0-9 _ . -`"))
}
