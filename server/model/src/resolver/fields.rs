//! The fields that the parts of a manifest share.

use portcullis_engine::resolver_contract::NAME_BYTES;

use crate::fields::{Names, parsed};
use crate::input::Field;
use crate::schema;

/// Keys of `config`, and secrets.
pub(super) const MAX_ENTRIES: usize = 64;
/// Longest value of `config`, and longest secret, in bytes: a list of networks fits.
pub(super) const MAX_VALUE: usize = 16 << 10;
/// The name of a key or an endpoint.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]+$";

/// Names that a module can declare.
pub(super) const DECLARED: Names =
    Names { fault: declared_fault, schema: || schema::text(NAME_BYTES).pattern(Some(NAME)) };

fn declared_fault(name: &str) -> Option<String> {
    let sound = (1..=NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    (!sound).then(|| format!("a name of 1 to {NAME_BYTES} bytes without control characters"))
}

/// A string of at most [`MAX_VALUE`] bytes, because every call gets a copy.
pub(super) fn value<'j>() -> impl Field<'j, Value = String> {
    parsed(
        |text| (text.len() <= MAX_VALUE).then(|| text.to_owned()),
        || format!("at most {MAX_VALUE} bytes"),
        || schema::short(MAX_VALUE),
    )
}
