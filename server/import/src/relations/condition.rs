//! Conditions that say until when a tuple counts.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use serde_json::Value;

use super::model::ModelCondition;
use super::model_text::{ModelText, Syntax};
use super::place::Place;
use super::system::System;

/// The context of a tuple or a check: values by the names of parameters.
pub(crate) type Context = BTreeMap<String, Value>;

const NANOS_PER_MILLI: u32 = 1_000_000;
/// The last year that RFC 3339 can write.
const LAST_YEAR: i32 = 9_999;

/// A condition `now < start + duration`, by the names of its parameters.
#[derive(Debug)]
pub(crate) struct ExpiryCondition {
    /// The parameter that a check gives.
    pub(crate) now: String,
    start: String,
    /// Absent if the condition compares with `start` itself.
    duration: Option<String>,
}

impl ExpiryCondition {
    /// Reads a condition.
    ///
    /// # Errors
    /// The reason why it is not an expiry.
    pub(crate) fn read(condition: &ModelCondition, system: &System) -> Result<Self, String> {
        let lines = condition.expression.lines();
        // A line is at most one comment.
        let code: Vec<&str> = lines.filter_map(|line| line.split("//").next()).collect();
        let code = code.join(" ");
        let (now, start, duration) = match tokens(&code, &condition.place)[..] {
            // The instant and the duration of a sum may stand in either order.
            [now, "<", a, "+", b] | [a, "+", b, ">", now]
                if condition.has_parameter(a, "timestamp") =>
            {
                (now, a, Some(b))
            }
            [now, "<", a, "+", b] | [a, "+", b, ">", now] => (now, b, Some(a)),
            [now, "<", end] | [end, ">", now] => (now, end, None),
            _ => return Err(not_an_expiry(&condition.name, system)),
        };
        let is_sound = now != start
            && [now, start].iter().all(|name| condition.has_parameter(name, "timestamp"))
            && duration.is_none_or(|name| condition.has_parameter(name, "duration"));
        match is_sound {
            true => Ok(Self {
                now: now.to_owned(),
                start: start.to_owned(),
                duration: duration.map(str::to_owned),
            }),
            false => Err(not_an_expiry(&condition.name, system)),
        }
    }

    /// Returns the instant from which on a tuple with this context does not count.
    ///
    /// # Errors
    /// The context lacks a value, or has the time of the check.
    pub(crate) fn end(&self, context: &Context) -> Result<DateTime<Utc>, String> {
        if context.contains_key(&self.now) {
            return Err(format!("the tuple gives `{}`, which is the time of a check", self.now));
        }
        let start = instant(text(context, &self.start)?)?;
        let end = match &self.duration {
            None => start,
            Some(name) => {
                let length = duration(text(context, name)?)?;
                let end = start.checked_add_signed(length).filter(|end| end.year() <= LAST_YEAR);
                end.ok_or_else(|| format!("the tuple expires after the year {LAST_YEAR}"))?
            }
        };
        rounded(end)
    }
}

fn text<'c>(context: &'c Context, name: &str) -> Result<&'c str, String> {
    match context.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("expected a text as `{name}` of the condition's context")),
        None => Err(format!(
            "the context of the tuple's condition lacks `{name}`; a value that checks give is not an expiry"
        )),
    }
}

/// Returns an instant of whole milliseconds: tuples have no others.
///
/// # Errors
/// The instant has a part of a millisecond.
pub(crate) fn rounded(end: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
    match end.timestamp_subsec_nanos() % NANOS_PER_MILLI {
        0 => Ok(end),
        _ => Err(format!("the tuple expires at `{}`; round it to milliseconds", end.to_rfc3339())),
    }
}

fn not_an_expiry(name: &str, system: &System) -> String {
    format!(
        "`{name}` is not an expiry such as `{}`; take it out of the {}, and write a policy with `relation.<name>` and this \
         condition over properties instead (docs/{}.md)",
        system.expiry, system.model, system.name
    )
}

/// Returns the words and symbols of an expression, without parentheses: where its types are right, they say nothing in
/// the expressions that are read.
fn tokens<'s>(expression: &'s str, place: &'s Place) -> Vec<&'s str> {
    let (mut tokens, mut text) = (Vec::new(), ModelText::new(expression, Syntax::Model, place));
    while !text.next().is_empty() {
        let token = text.next();
        text.take(token);
        if !matches!(token, "(" | ")") {
            tokens.push(token);
        }
    }
    tokens
}

/// Reads an instant (RFC 3339).
pub(crate) fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    let read = DateTime::parse_from_rfc3339(text);
    read.map(|read| read.to_utc())
        .map_err(|_| format!("expected an instant such as `2026-01-15T10:00:00Z`, not `{text}`"))
}

/// Reads a duration as Go writes it, such as `1h30m`.
fn duration(text: &str) -> Result<TimeDelta, String> {
    whole_duration(text).ok_or_else(|| {
        format!(
            "expected a duration of whole hours, minutes and seconds such as `1h30m`, not `{text}`"
        )
    })
}

/// Returns the sum of numbers with units; `None` for anything else, as for fractions.
fn whole_duration(text: &str) -> Option<TimeDelta> {
    let (mut nanos, mut rest) = (0_i64, text);
    while !rest.is_empty() {
        let number = rest.find(|char: char| !char.is_ascii_digit())?;
        let (count, after) = (rest[..number].parse::<i64>().ok()?, &rest[number..]);
        let unit = after.find(|char: char| char.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at(unit);
        let (_, size) = UNITS.iter().find(|(name, _)| *name == unit)?;
        nanos = nanos.checked_add(count.checked_mul(*size)?)?;
        rest = next;
    }
    (!text.is_empty()).then(|| TimeDelta::nanoseconds(nanos))
}

/// The units of durations, in nanoseconds.
const UNITS: [(&str, i64); 7] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];
