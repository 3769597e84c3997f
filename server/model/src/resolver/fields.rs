//! The fields that the parts of a manifest share.

use std::collections::BTreeMap;

use portcullis_engine::Json;
use portcullis_engine::fields::string;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::NAME_BYTES;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::fields::members;
use crate::input::{Field, derived, field};
use crate::schema::{self, AnySchema};

/// Keys of `config`, and secrets.
pub(super) const MAX_ENTRIES: usize = 64;
/// Longest value of `config`, and longest secret, in bytes: a list of networks fits.
pub(super) const MAX_VALUE: usize = 16 << 10;
/// The name of a key or an endpoint.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]+$";

/// The names of the members of a map.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// Returns what is expected instead of a name that is not allowed.
    pub(super) fault: fn(&str) -> Option<String>,
    pub(super) schema: fn() -> ObjectBuilder,
}

impl Names {
    /// Names that a module can declare.
    pub(super) const DECLARED: Self =
        Self { fault: declared_fault, schema: || schema::text(NAME_BYTES).pattern(Some(NAME)) };
}

fn declared_fault(name: &str) -> Option<String> {
    let sound = (1..=NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    (!sound).then(|| format!("a name of 1 to {NAME_BYTES} bytes without control characters"))
}

/// An object with at most `max` members, each a `value`.
pub(super) fn map<'j, F: Field<'j>>(
    max: usize,
    names: Names,
    value: F,
) -> impl Field<'j, Value = BTreeMap<String, F::Value>> {
    derived(
        value,
        move |value, json, at, problems| {
            let members = members(json, at, problems)?;
            if members.len() > max {
                problems.expected(at, format!("at most {max} members"));
                return None;
            }
            let mut entries = BTreeMap::new();
            for (name, json) in members {
                let at = at.key(name);
                match (names.fault)(name) {
                    Some(expected) => problems.expected(&at, expected),
                    None => {
                        let value = value.read(json, &at, problems);
                        entries.extend(value.map(|value| (name.to_string(), value)));
                    }
                }
            }
            // A member that is not among the entries has a fault.
            (entries.len() == members.len()).then_some(entries)
        },
        move |value| map_schema(max, value.schema()).property_names(Some((names.schema)())).into(),
    )
}

/// The schema of an object with at most `max` members, each a `value`.
pub(super) fn map_schema(max: usize, value: impl Into<AnySchema>) -> ObjectBuilder {
    schema::typed(Type::Object).additional_properties(Some(value.into())).max_properties(Some(max))
}

/// A string of at most [`MAX_VALUE`] bytes, because every call gets a copy.
pub(super) fn value<'j>() -> impl Field<'j, Value = String> {
    field(read_value, || schema::short(MAX_VALUE))
}

fn read_value(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = string(json, at, problems)?;
    if text.len() > MAX_VALUE {
        problems.expected(at, format!("at most {MAX_VALUE} bytes"));
        return None;
    }
    Some(text.to_owned())
}

/// An integer from `least` to `most`, in `unit`.
pub(super) fn integer<'j>(
    least: u32,
    most: u32,
    unit: &'static str,
) -> impl Field<'j, Value = u32> {
    field(
        move |json: &Json<'_>, at, problems| {
            let number = match json {
                Json::Number(number) => {
                    number.as_i32().and_then(|number| u32::try_from(number).ok())
                }
                _ => None,
            };
            let number = number.filter(|number| (least..=most).contains(number));
            if number.is_none() {
                problems.expected(at, format!("an integer from {least} to {most}, in {unit}"));
            }
            number
        },
        move || schema::integer(least.into(), most.into()),
    )
}
