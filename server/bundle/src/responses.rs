//! Canned responses of endpoints, in files of cases and of checks.

use std::collections::BTreeMap;

use portcullis_engine::Json;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::fields::by_name;
use portcullis_model::input::{Field, Members, field, object};
use portcullis_model::schema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType};

/// The range of the statuses of HTTP (RFC 9110, section 15).
const LEAST_STATUS: u16 = 100;
const MAX_STATUS: u16 = 599;

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
    /// Responses as files write them.
    pub fn field<'j>() -> impl Field<'j, Value = Self> {
        let requests = by_name(object(CannedResponse::declare))
            .about("Responses by method and path, such as `GET people/ann`");
        by_name(requests)
            .map(Self)
            .about("Responses by the name of the endpoint; no request is sent")
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

    /// Returns these responses, and the responses of `other` to requests that have none here.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let mut all = other.0.clone();
        for (endpoint, responses) in &self.0 {
            // The responses of `self` come last, and so replace those of `other` to the same request.
            all.entry(endpoint.clone()).or_default().extend(responses.clone());
        }
        Self(all)
    }
}

impl CannedResponse {
    /// Declares `{"status": 200, "body": …}`. A string is the text of the body; any other value is its JSON.
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let status = members.required("status", status());
        let body = members.optional("body", body());
        Some(Self { status: status?, body: body.unwrap_or_default() })
    }
}

fn status<'j>() -> impl Field<'j, Value = u16> {
    field(read_status, || schema::integer(LEAST_STATUS.into(), MAX_STATUS.into()))
        .about("The status of the response")
}

fn read_status(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<u16> {
    let number = if let Json::Number(number) = json { number.as_i32() } else { None };
    let status = number.and_then(|number| u16::try_from(number).ok());
    let status = status.filter(|status| (LEAST_STATUS..=MAX_STATUS).contains(status));
    if status.is_none() {
        problems.expected(at, format!("a status from {LEAST_STATUS} to {MAX_STATUS}"));
    }
    status
}

fn body<'j>() -> impl Field<'j, Value = Vec<u8>> {
    field(
        |json, _, _| Some(body_text(json).into_bytes()),
        || ObjectBuilder::new().schema_type(SchemaType::AnyValue),
    )
    .about("The body: a string is its text, any other value its JSON; empty when absent")
}

fn body_text(json: &Json<'_>) -> String {
    // The text of a string would have quotes as JSON.
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}
