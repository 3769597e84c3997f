//! Constructors of the contract's types.

use crate::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Failure, Kind, Resolution, Value,
};

impl Attribute {
    /// Makes an attribute that is cached for the time that `describe` declares.
    pub fn new(name: impl Into<String>, value: Value) -> Self {
        Self { name: name.into(), value, ttl_ms: None }
    }
}

impl AttributeSpec {
    /// Declares an attribute whose values may be cached for `default_ttl_ms` milliseconds.
    pub fn new(name: impl Into<String>, kind: Kind, default_ttl_ms: u32) -> Self {
        Self { name: name.into(), kind, default_ttl_ms }
    }
}

impl ConfigKey {
    /// Declares a key that the manifest must have.
    pub fn required(name: impl Into<String>) -> Self {
        Self { name: name.into(), required: true }
    }

    /// Declares a key that the manifest may have.
    pub fn optional(name: impl Into<String>) -> Self {
        Self { name: name.into(), required: false }
    }
}

impl Descriptor {
    /// Makes a descriptor without attributes and needs.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            attributes: vec![],
            inputs: vec![],
            config_keys: vec![],
            endpoints: vec![],
            ext: vec![],
        }
    }
}

impl Resolution {
    /// Answers that `attributes` exist and `absent` do not.
    pub fn new(attributes: Vec<Attribute>, absent: Vec<String>) -> Self {
        Self { attributes, absent, ext: vec![] }
    }
}

impl From<Attribute> for Resolution {
    fn from(attribute: Attribute) -> Self {
        Self::new(vec![attribute], vec![])
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Unavailable(failure)
    }
}
