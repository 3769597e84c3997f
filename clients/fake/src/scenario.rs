//! A scenario: what the server answers, what a client is asked to do, and what must have been sent.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

/// The parts of a scenario file that the server needs. `client` and `steps` are for the runners, which read the whole file as
/// JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    #[expect(dead_code, reason = "runners read it")]
    name: String,
    #[serde(default)]
    #[expect(dead_code, reason = "runners read it")]
    client: Value,
    /// The answers, one for each request. The last one repeats.
    pub(crate) server: Vec<Answer>,
    /// The answers of the token endpoint, likewise.
    #[serde(default)]
    pub(crate) tokens: Vec<Answer>,
    #[expect(dead_code, reason = "runners read it")]
    steps: Vec<Value>,
    /// The requests that must have been sent, all of them, by parts.
    pub(crate) seen: Option<Vec<Expected>>,
}

/// A scripted answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    #[serde(default = "ok")]
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) json: Option<Value>,
    /// The body as text, in place of `json`: it may be anything.
    pub(crate) body: Option<String>,
    /// Whether `json` and `headers` may have what the document does not declare.
    #[serde(default)]
    pub(crate) extra: bool,
    #[serde(default)]
    pub(crate) delay_ms: u64,
    pub(crate) fault: Option<Fault>,
}

/// A way in which an answer goes wrong on the wire.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    /// The connection is reset.
    Reset,
    /// The connection is closed without an answer.
    Close,
    /// The connection is closed after half of the body.
    Half,
    /// A byte of the body each 100 ms.
    Slow,
    /// No answer at all.
    Hang,
}

/// Parts of a request that a client must have sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    method: Option<String>,
    path: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    absent: Vec<String>,
    json: Option<Value>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The path behind `/s/<file>`, with its query.
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn has_header(&self, wanted: &str) -> bool {
        self.headers.keys().any(|name| name.eq_ignore_ascii_case(wanted))
    }
}

fn ok() -> u16 {
    200
}

impl Scenario {
    /// Reads a file. Returns the scenario and its text as JSON, which the runners get.
    pub(crate) fn read(path: &Path) -> anyhow::Result<(Self, Value)> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let value: Value =
            serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?;
        let scenario: Self =
            serde_json::from_value(value.clone()).with_context(|| path.display().to_string())?;
        anyhow::ensure!(!scenario.server.is_empty(), "{}: `server` has no answer", path.display());
        Ok((scenario, value))
    }

    /// Returns the answer to the request with the index `number`.
    pub(crate) fn answer(answers: &[Answer], number: usize) -> Option<&Answer> {
        answers.get(number).or_else(|| answers.last())
    }

    /// Returns how the requests differ from those that must have been sent.
    pub(crate) fn differences(&self, seen: &[Seen]) -> Vec<String> {
        let Some(expected) = &self.seen else { return Vec::new() };
        let mut faults = Vec::new();
        if expected.len() != seen.len() {
            faults.push(format!("expected {} requests, got {}", expected.len(), seen.len()));
        }
        for (number, (expected, seen)) in expected.iter().zip(seen).enumerate() {
            expected.compare(seen, &format!("request {number}"), &mut faults);
        }
        faults
    }
}

impl Expected {
    fn compare(&self, seen: &Seen, at: &str, faults: &mut Vec<String>) {
        if let Some(method) = self.method.as_ref().filter(|method| **method != seen.method) {
            faults.push(difference(at, "method", method, &seen.method));
        }
        if let Some(path) = self.path.as_ref().filter(|path| **path != seen.path) {
            faults.push(difference(at, "path", path, &seen.path));
        }
        for (name, value) in &self.headers {
            let got = seen.headers.get(&name.to_lowercase()).map_or("", String::as_str);
            if got != value {
                faults.push(difference(at, name, value, got));
            }
        }
        for name in &self.absent {
            if let Some(got) = seen.headers.get(&name.to_lowercase()) {
                faults.push(difference(at, name, "absent", got));
            }
        }
        if let Some(expected) = &self.json {
            let got = seen.json().unwrap_or(Value::Null);
            if !contains(&got, expected) {
                faults.push(difference(at, "json", &expected.to_string(), &got.to_string()));
            }
        }
    }
}

impl Seen {
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

fn difference(at: &str, what: &str, expected: &str, got: &str) -> String {
    format!("{at}: {what}: expected `{expected}`, got `{got}`")
}

/// Returns whether `whole` has everything of `part`: of objects the members, of lists each item. A member that is `null` may be
/// absent.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| whole.get(name).map_or(part.is_null(), |it| contains(it, part))),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len()
                && whole.iter().zip(part).all(|(whole, part)| contains(whole, part))
        }
        _ => whole == part,
    }
}
