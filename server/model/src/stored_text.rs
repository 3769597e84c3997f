//! Members of stored records that are read from texts.

use std::str::FromStr;

use portcullis_engine::ResourcePattern;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Reads one of the texts of `T`.
pub(crate) fn parsed<'d, T: FromStr, D: Deserializer<'d>>(from: D) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| D::Error::custom("an unknown text"))
}

/// Reads a pattern of resources.
pub(crate) fn pattern<'d, D: Deserializer<'d>>(from: D) -> Result<ResourcePattern, D::Error> {
    let text = String::deserialize(from)?;
    ResourcePattern::parse(&text).ok_or_else(|| D::Error::custom("not a pattern of resources"))
}
