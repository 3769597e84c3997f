//! The settings of a tenant for the record of its decisions (`docs/semantics.md`, section 10.6).

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_engine::Json;
use portcullis_engine::condition::AttributePath;
use serde::{Serialize, Serializer};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::openapi::schema::Type;

use crate::decision::Treatment;
use crate::fields::{Names, map, variant};
use crate::hours::{Hours, hours};
use crate::input::{Field, Members, field};
use crate::schema;

/// Most attributes that a tenant names.
const MAX_ATTRIBUTES: usize = 64;
/// Longest path of an attribute, in characters.
const MAX_PATH: usize = 256;
/// The parts of an allow's share that are told apart.
const WHOLE: u32 = 1_000_000;

/// The terms by which the decisions of a tenant are recorded. The check's path reads them as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionLogSettings {
    #[serde(skip_serializing_if = "is_default")]
    pub mode: LogMode,
    /// The part of the allows that is recorded. Denials and undetermined decisions are recorded always.
    #[serde(skip_serializing_if = "is_default")]
    pub allows: Share,
    #[serde(skip_serializing_if = "is_default")]
    pub keep: Keep,
    #[serde(skip_serializing_if = "is_default")]
    pub full: WhenFull,
    /// The part of attributes that records have, by path; of others they have the values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Treatment>,
}

/// The time at which a record is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LogMode {
    /// Nothing is recorded.
    Off,
    /// At most 100 ms after the answer.
    #[default]
    Async,
    /// Before the answer.
    Durable,
}

/// The outcome of a check in the mode `durable` whose record cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WhenFull {
    /// It is refused.
    #[default]
    Refuse,
    /// It is answered without a record, which is counted as lost.
    Answer,
}

/// A part of a whole, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    /// Returns whether everything belongs to the part.
    pub fn is_whole(self) -> bool {
        self.0 == WHOLE
    }

    /// Returns the part as a number from 0 to 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to a million")]
    fn new(number: f64) -> Option<Self> {
        // No range contains NaN, so it is refused as well.
        let is_part = (0.0..=1.0).contains(&number);
        is_part.then(|| Self((number * f64::from(WHOLE)).round() as u32))
    }
}

impl Default for Share {
    fn default() -> Self {
        Self(WHOLE)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

/// The time for which records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Keep(Hours);

impl Keep {
    const DEFAULT: Self = Self(Hours::from_days(7));

    /// Returns the time.
    pub fn duration(self) -> Duration {
        self.0.duration()
    }

    /// Reads hours or days, such as `36h` or `7d`.
    pub fn parse(text: &str) -> Option<Self> {
        Hours::parse(text).map(Self)
    }
}

impl Default for Keep {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DecisionLogSettings {
    /// Returns whether the tenant sets nothing itself.
    pub fn is_default(&self) -> bool {
        is_default(self)
    }

    /// Names the members, to read or to describe them.
    pub fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let mode = variant().default_is("async").about(
            "`off` records nothing, `async` within 100 ms after the answer, `durable` before it",
        );
        let mode = members.optional("mode", mode);
        let allows = members.optional("allows", share());
        let keep = "For how long records are kept: hours or days, from `1h` to `3650d`";
        let keep = members.optional("keep", hours(keep, Some(Keep::DEFAULT.0)));
        let full = variant().default_is("refuse").about(
            "What a check in the mode `durable` does when nothing can be written: `refuse` is a 503, `answer` goes on",
        );
        let full = members.optional("full", full);
        let attributes = members.optional("attributes", attributes());
        Some(Self {
            mode: mode.unwrap_or_default(),
            allows: allows.unwrap_or_default(),
            keep: keep.map(Keep).unwrap_or_default(),
            full: full.unwrap_or_default(),
            attributes: attributes.unwrap_or_default(),
        })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn share<'j>() -> impl Field<'j, Value = Share> {
    field(
        |json: &Json<'_>, at, problems| {
            let number = match json {
                Json::Number(number) => Share::new(number.as_f64()),
                _ => None,
            };
            if number.is_none() {
                problems.expected(at, "a number from 0 to 1, the part of the allows to record");
            }
            number
        },
        || {
            let about = "The part of the allows that is recorded; denials and undetermined decisions are always";
            let number = schema::typed(Type::Number).minimum(Some(0.0)).maximum(Some(1.0));
            number.description(Some(about)).default(Some(1.0.into()))
        },
    )
}

fn attributes<'j>() -> impl Field<'j, Value = BTreeMap<String, Treatment>> {
    let names = Names { fault: path_fault, schema: || schema::text(MAX_PATH) };
    map(MAX_ATTRIBUTES, "attributes", names, variant()).about(
        "What records have of attributes, by path such as `user.pin`: `keep` the value, `drop` nothing, `hash` a \
         keyed hash, `reads` the value if the rules read it",
    )
}

fn path_fault(path: &str) -> Option<String> {
    let expected = "a path such as `user.pin`, of `user`, `resource`, `action`, `context`, `token` or a resolver";
    (!is_recorded(path)).then(|| expected.to_owned())
}

/// Returns whether records have the attribute at `path` among their attributes, claims or answers of resolvers.
fn is_recorded(path: &str) -> bool {
    let parsed = AttributePath::parse(path);
    path.chars().count() <= MAX_PATH && !matches!(parsed, Err(_) | Ok(AttributePath::Request(_)))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;
    use crate::input;

    fn read(text: &str) -> Result<DecisionLogSettings, String> {
        let json = json::parse(text.as_bytes()).expect("JSON");
        let read = input::parse(&json, DecisionLogSettings::declare);
        read.map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn settings_are_written_as_they_are_read_without_defaults() {
        for (text, expected) in [
            ("{}", "{}"),
            (r#"{"mode":"async","allows":1,"keep":"168h","full":"refuse","attributes":{}}"#, "{}"),
            (
                r#"{"mode":"durable","allows":0.25,"keep":"36h","full":"answer","attributes":{"user.pin":"hash"}}"#,
                r#"{"mode":"durable","allows":0.25,"keep":"36h","full":"answer","attributes":{"user.pin":"hash"}}"#,
            ),
            (r#"{"allows":0,"keep":"30d"}"#, r#"{"allows":0.0,"keep":"30d"}"#),
        ] {
            let settings = read(text).expect(text);
            let written = serde_json::to_string(&settings).expect("JSON");
            assert_eq!(written, expected);
            assert_eq!(read(&written), Ok(settings));
        }
    }

    #[test]
    fn faults_have_their_place() {
        for (text, fault) in [
            (r#"{"mode": "on"}"#, "at `/mode`: expected `off`, `async` or `durable`"),
            (
                r#"{"allows": 1.1}"#,
                "at `/allows`: expected a number from 0 to 1, the part of the allows to record",
            ),
            (
                r#"{"keep": "7w"}"#,
                "at `/keep`: expected a time such as `7d` or `36h`, from `1h` to `3650d`",
            ),
            (
                r#"{"keep": "+7d"}"#,
                "at `/keep`: expected a time such as `7d` or `36h`, from `1h` to `3650d`",
            ),
            (
                r#"{"keep": "4000d"}"#,
                "at `/keep`: expected a time such as `7d` or `36h`, from `1h` to `3650d`",
            ),
            (r#"{"full": "wait"}"#, "at `/full`: expected `refuse` or `answer`"),
            (
                r#"{"attributes": {"request.time": "drop"}}"#,
                "at `/attributes/request.time`: expected a path such as `user.pin`, of `user`, `resource`, `action`, `context`, `token` or a resolver",
            ),
            (
                r#"{"attributes": {"user.pin": "none"}}"#,
                "at `/attributes/user.pin`: expected `keep`, `drop`, `hash` or `reads`",
            ),
        ] {
            assert_eq!(read(text).expect_err(text), fault);
        }
    }
}
