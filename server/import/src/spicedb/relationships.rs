//! Relationships in SpiceDB's text form: `document:plan#viewer@group:eng#member[expiration:2026-02-01T00:00:00Z]`.

use chrono::{DateTime, Utc};

use crate::relations::condition::{Context, instant};
use crate::relations::place::Place;
use crate::relations::tuples::{StoredTuple, TupleCondition};

/// The subject relation that stands for the subject itself.
const ITSELF: &str = "#...";
const EXPIRATION: &str = "expiration:";
const FORM: &str = "expected `<type>:<id>#<relation>@<type>:<id>`";

/// Reads relationships, one in a line, whose first line is at `start`. Empty lines and comments are skipped.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn read(text: &str, start: &Place) -> Result<Vec<(Place, StoredTuple)>, String> {
    let lines = (0..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
    let read = lines.map(|(below, line)| {
        let place = start.below(below);
        relationship(line).map_err(|reason| place.says(reason)).map(|tuple| (place, tuple))
    });
    read.collect()
}

/// Reads one relationship.
pub(super) fn relationship(text: &str) -> Result<StoredTuple, String> {
    let (object, rest) = text.split_once('@').ok_or_else(|| malformed(text))?;
    let (object, relation) = object.rsplit_once('#').ok_or_else(|| malformed(text))?;
    let (user, mut traits) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
    let mut tuple = StoredTuple {
        user: user.trim().trim_end_matches(ITSELF).to_owned(),
        relation: relation.to_owned(),
        object: object.to_owned(),
        ..StoredTuple::default()
    };
    while !traits.is_empty() {
        let inner = traits.strip_prefix('[').ok_or_else(|| malformed(text))?;
        traits = match inner.strip_prefix(EXPIRATION) {
            Some(inner) => {
                let (at, rest) = inner.split_once(']').ok_or_else(|| malformed(text))?;
                tuple.expires_at = Some(expiration(at)?);
                rest
            }
            None => {
                let (condition, rest) = caveat(inner).ok_or_else(|| malformed(text))?;
                tuple.condition = Some(condition);
                rest
            }
        };
    }
    Ok(tuple)
}

fn malformed(text: &str) -> String {
    format!("{FORM}, not `{text}`")
}

/// Reads the context after a relationship: ` with {"now": "2026-01-15T10:00:00Z"}`.
pub(super) fn with_context(text: &str) -> Result<(&str, Option<Context>), String> {
    let Some((relationship, context)) = text.split_once(" with ") else { return Ok((text, None)) };
    let context = serde_json::from_str(context).map_err(|error| format!("the context: {error}"))?;
    Ok((relationship.trim_end(), Some(context)))
}

/// Reads an instant; one without an offset is in UTC.
fn expiration(text: &str) -> Result<DateTime<Utc>, String> {
    let zone = if text.ends_with('Z') { "" } else { "Z" };
    instant(&format!("{text}{zone}"))
}

/// Reads `name]` or `name:{…}]`, and returns the text after it.
fn caveat(text: &str) -> Option<(TupleCondition, &str)> {
    let (name, rest) = text.split_at(text.find([':', ']'])?);
    let name = name.to_owned();
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((TupleCondition { name, context: None }, rest));
    }
    let json = rest.strip_prefix(':')?;
    let mut contexts = serde_json::Deserializer::from_str(json).into_iter::<Context>();
    let context = contexts.next()?.ok()?;
    // A `]` inside of the JSON does not end the caveat.
    let rest = json[contexts.byte_offset()..].strip_prefix(']')?;
    Some((TupleCondition { name, context: Some(context) }, rest))
}
