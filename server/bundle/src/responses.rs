//! Canned responses of endpoints, in files of cases and of checks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_engine::Json;
use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};

/// A response without headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannedResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Responses by endpoint, and by method and path: `{"directory": {"GET people/ann": {"status": 200, "body": …}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CannedResponses(BTreeMap<String, BTreeMap<String, CannedResponse>>);

impl CannedResponses {
    /// Reads responses as files write them.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        each(json, at, problems, |json, at, problems| each(json, at, problems, response)).map(Self)
    }

    /// Returns the names of the endpoints that have responses.
    pub fn endpoints(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether an endpoint has responses.
    pub fn has(&self, endpoint: &str) -> bool {
        self.0.contains_key(endpoint)
    }

    /// Returns the response of an endpoint to `request`, which is a method, a space and a path.
    pub fn get(&self, endpoint: &str, request: &str) -> Option<&CannedResponse> {
        self.0.get(endpoint)?.get(request)
    }

    /// Returns these responses, and those of `other` to requests that have none here.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let mut all = other.0.clone();
        for (endpoint, responses) in &self.0 {
            all.entry(endpoint.clone()).or_default().extend(responses.clone());
        }
        Self(all)
    }
}

/// Reads `{"status": 200, "body": …}`. A string is the text of the body; any other value is its JSON.
fn response(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<CannedResponse> {
    let mut fields = Fields::open(json, at, problems)?;
    let status = fields.required("status", status);
    let body = fields.optional("body", |json, _, _| {
        Some(json.as_str().map_or_else(|| json.to_string(), str::to_owned).into_bytes())
    });
    fields.close();
    Some(CannedResponse { status: status?, body: body.unwrap_or_default() })
}

fn status(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<u16> {
    let number = if let Json::Number(number) = json { number.as_i32() } else { None };
    let status = number.and_then(|number| u16::try_from(number).ok());
    let status = status.filter(|status| (100..600).contains(status));
    if status.is_none() {
        problems.expected(at, "a status from 100 to 599");
    }
    status
}

/// Reads every member of an object with `read`.
pub(super) fn each<T>(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    read: impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    let Some(members) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    let read = |(name, json): &(Cow<'_, str>, Json<'_>)| {
        Some((name.to_string(), read(json, &at.key(name), problems)?))
    };
    // Every member is read, also after a fault: all faults are reported together.
    let all: Vec<Option<_>> = members.iter().map(read).collect();
    all.into_iter().collect()
}
