//! The fields that several bodies share.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

use chrono::{DateTime, Utc};
use portcullis_engine::fields::{self, string as read_string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::{Effect, Json, ResourcePattern, names, rbac, request, resource};
use url::Url;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use uuid::Uuid;

use crate::egress_rules::EgressRules;
use crate::input::{Field, derived, field};
use crate::schema::{self, AnySchema, MAX_URL};

/// A string of 1 to `max` characters.
pub fn text<'j>(max: usize) -> impl Field<'j, Value = String> {
    owned(fields::text(max), move || schema::text(max))
}

/// A string of at most `max` characters, the empty one included.
pub fn short<'j>(max: usize) -> impl Field<'j, Value = String> {
    parsed(
        move |text| (text.chars().count() <= max).then(|| text.to_owned()),
        move || format!("at most {max} characters"),
        move || schema::short(max),
    )
}

/// A string of any length, the empty one included.
pub fn string<'j>() -> impl Field<'j, Value = String> {
    owned(read_string, schema::string)
}

/// A field of text, of a reader that does not copy it.
pub(crate) fn owned<'j>(
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<&'j str>,
    schema: impl Fn() -> ObjectBuilder,
) -> impl Field<'j, Value = String> {
    field(move |json, at, problems| read(json, at, problems).map(str::to_owned), schema)
}

/// A string of which `parse` makes a value; `expected` completes "expected …" for another one.
pub(crate) fn parsed<'j, T>(
    parse: impl Fn(&str) -> Option<T>,
    expected: impl Fn() -> String,
    schema: impl Fn() -> ObjectBuilder,
) -> impl Field<'j, Value = T> {
    field(
        move |json, at, problems| {
            let value = parse(read_string(json, at, problems)?);
            if value.is_none() {
                problems.expected(at, expected());
            }
            value
        },
        schema,
    )
}

/// An integer from `least` to `most`, which `unit` follows in errors.
pub(crate) fn integer<'j, T: TryFrom<i32>>(
    least: i32,
    most: i32,
    unit: &'static str,
) -> impl Field<'j, Value = T> {
    field(
        move |json: &Json<'_>, at, problems| {
            let number = match json {
                Json::Number(number) => number.as_i32(),
                _ => None,
            };
            let number = number.filter(|number| (least..=most).contains(number));
            // The bounds decide, and the conversion fails only if a caller's bounds exceed its own type.
            let number = number.and_then(|number| number.try_into().ok());
            if number.is_none() {
                problems.expected(at, format!("an integer from {least} to {most}{unit}"));
            }
            number
        },
        move || schema::integer(least.into(), most.into()),
    )
}

/// `true` or `false`.
pub fn boolean<'j>() -> impl Field<'j, Value = bool> {
    field(|json, at, problems| fields::boolean(json, at, problems), schema::boolean)
}

/// The id of a record.
pub(crate) fn id<'j>() -> impl Field<'j, Value = Uuid> {
    field(read_id, schema::id)
}

fn read_id(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Uuid> {
    let id = parse_id(json);
    if id.is_none() {
        problems.expected(at, "a UUID");
    }
    id
}

/// The UUID that `json` is, if it is one.
pub(crate) fn parse_id(json: &Json<'_>) -> Option<Uuid> {
    json.as_str().and_then(|text| Uuid::try_parse(text).ok())
}

/// An RFC 3339 date-time.
pub fn instant<'j>() -> impl Field<'j, Value = DateTime<Utc>> {
    field(|json, at, problems| request::instant(json, at, problems), schema::instant)
}

/// `allow` or `deny`.
pub fn effect<'j>() -> impl Field<'j, Value = Effect> {
    field(|json, at, problems| Effect::read(json, at, problems), schema::effect)
}

/// A `sub`, `dom` or `act` of a rule: `*`, or up to `max` characters without any `*`.
pub(crate) fn rule_field<'j>(max: usize) -> impl Field<'j, Value = String> {
    owned(rbac::rule_field(max), move || schema::rule_field(max))
}

/// `*`, `<name>:*` or `<name>:<verb>`.
pub(crate) fn resource_pattern<'j>() -> impl Field<'j, Value = ResourcePattern> {
    field(|json, at, problems| ResourcePattern::read(json, at, problems), schema::resource_pattern)
}

/// `<name>:<verb>` without `*`.
pub(crate) fn registered_resource<'j>() -> impl Field<'j, Value = String> {
    owned(resource::registered_resource, schema::registered_resource)
}

/// A URL that the egress `rules` allow, as it was written.
pub(crate) fn url<'j>(rules: &EgressRules) -> impl Field<'j, Value = String> {
    field(
        |json: &'j Json<'j>, at, problems| {
            // The text is kept as it was written, although the parser would spell some URLs differently.
            let written = fields::text(MAX_URL)(json, at, problems)?;
            let parsed = Url::parse(written).map_err(|error| format!("a URL: {error}"));
            match parsed.and_then(|url| rules.check_url(&url)) {
                Ok(()) => Some(written.to_owned()),
                Err(expected) => {
                    problems.expected(at, expected);
                    None
                }
            }
        },
        || if rules.allow_http { schema::any_url() } else { schema::url() },
    )
}

/// A variant of an enum, by its name.
pub fn variant<'j, T: names::Variants>() -> impl Field<'j, Value = T> {
    field(
        |json, at, problems| names::named(json, at, problems),
        || schema::choice(names::names::<T>()),
    )
}

/// The values of `field`, which the document names as the schema of `T`.
pub fn named<'j, T: ToSchema, F: Field<'j>>(field: F) -> impl Field<'j, Value = F::Value> {
    derived(field, F::read, |_| schema::named::<T>())
}

/// An array of `item`; every bad item is noted.
pub fn list<'j, F: Field<'j>>(item: F) -> impl Field<'j, Value = Vec<F::Value>> {
    derived(item, read_list, |item| schema::list(item.schema()).into())
}

fn read_list<'j, F: Field<'j>>(
    item: &F,
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<F::Value>> {
    fields::list(|json, at, problems| item.read(json, at, problems))(json, at, problems)
}

/// Returns the reader of an array of at most `max` items, each by `read`. Errors call them `noun`.
pub(crate) fn at_most<'j, T>(
    max: usize,
    noun: &'static str,
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<Vec<T>> {
    let list = fields::list(read);
    move |json, at, problems| {
        // The length is checked first, so that a list that is too long does not cost the reading of its items.
        if json.as_array().is_some_and(|items| items.len() > max) {
            problems.expected(at, format!("at most {max} {noun}"));
            return None;
        }
        list(json, at, problems)
    }
}

/// An object whose members may have any names, each a `value`; every bad value is noted.
pub fn by_name<'j, F: Field<'j>>(value: F) -> impl Field<'j, Value = BTreeMap<String, F::Value>> {
    derived(
        value,
        |value, json, at, problems| {
            let members = members(json, at, problems)?;
            let all = members.iter().map(|(name, json)| {
                Some((name.to_string(), value.read(json, &at.key(name), problems)?))
            });
            // Every member is read, also after a fault: all faults are reported together.
            let all: Vec<Option<_>> = all.collect();
            all.into_iter().collect()
        },
        |value| schema::typed(Type::Object).additional_properties(Some(value.schema())).into(),
    )
}

/// The names of the members of a map.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    /// Returns what is expected instead of a name that is not allowed.
    pub(crate) fault: fn(&str) -> Option<String>,
    pub(crate) schema: fn() -> ObjectBuilder,
}

/// An object with at most `max` members, each a `value`. Errors call them `noun`.
pub(crate) fn map<'j, F: Field<'j>>(
    max: usize,
    noun: &'static str,
    names: Names,
    value: F,
) -> impl Field<'j, Value = BTreeMap<String, F::Value>> {
    derived(
        value,
        move |value, json, at, problems| {
            let members = members(json, at, problems)?;
            // The number is checked first, so that an object that is too large does not cost the reading of its members.
            if members.len() > max {
                problems.expected(at, format!("at most {max} {noun}"));
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
pub(crate) fn map_schema(max: usize, value: impl Into<AnySchema>) -> ObjectBuilder {
    schema::typed(Type::Object).additional_properties(Some(value.into())).max_properties(Some(max))
}

/// Returns the members of an object.
pub(crate) fn members<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [Member<'j>]> {
    let members = json.as_object();
    if members.is_none() {
        problems.expected(at, format!("an object, not {}", json.kind()));
    }
    members
}

/// An array of at least one `item`, each called `noun`. An item that is repeated counts once.
pub(crate) fn one_or_more<'j, F: Field<'j, Value: Clone + Eq + Hash>>(
    item: F,
    noun: &'static str,
) -> impl Field<'j, Value = Vec<F::Value>> {
    derived(
        item,
        move |item, json, at, problems| {
            let items = each_once(read_list(item, json, at, problems)?);
            if items.is_empty() {
                problems.expected(at, format!("at least one {noun}"));
                return None;
            }
            Some(items)
        },
        |item| schema::list(item.schema()).min_items(Some(1)).into(),
    )
}

/// The items in their order, without repetitions.
pub(crate) fn each_once<T: Clone + Eq + Hash>(mut items: Vec<T>) -> Vec<T> {
    // A body of 1 MiB has room for 150,000 items: comparing all pairs would take minutes.
    let mut seen = HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(item.clone()));
    items
}
