//! The answers that several handlers give.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};
use portcullis_operations::written::Stored;
use serde::Serialize;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::etag;
use crate::text_answer::Json;

const DECISION_ID: HeaderName = HeaderName::from_static("x-decision-id");
const ENTITIES_REVISION: HeaderName = HeaderName::from_static("x-entities-revision");
const POLICY_REVISION: HeaderName = HeaderName::from_static("x-policy-revision");

/// Returns the header with the tenant's revision. Every answer to a check and every successful write has it.
pub fn revision_header(revision: u64) -> [(HeaderName, HeaderValue); 1] {
    // Digits are a valid value. From the text, the value needs one allocation instead of two.
    let digits = Bytes::from(revision.to_string());
    let value = HeaderValue::from_maybe_shared(digits).unwrap_or(HeaderValue::from_static("0"));
    [(POLICY_REVISION, value)]
}

/// Returns the header with the revision of the tenant's directory, if the answer read or wrote it.
pub fn entities_header(revision: Option<u64>) -> Option<[(HeaderName, HeaderValue); 1]> {
    revision.map(|revision| [(ENTITIES_REVISION, HeaderValue::from(revision))])
}

/// Answers with what a write of the directory did, and its revision.
pub fn written_to_directory(revision: u64, written: impl Serialize) -> Response {
    (entities_header(Some(revision)), Json(written)).into_response()
}

/// Returns the header with the id of the record of a decision, if it is recorded.
pub fn decision_header(id: Option<Uuid>) -> Option<[(HeaderName, HeaderValue); 1]> {
    let mut text = [0; Hyphenated::LENGTH];
    let value = HeaderValue::from_str(id?.hyphenated().encode_lower(&mut text)).ok()?;
    Some([(DECISION_ID, value)])
}

/// Answers 201 with a record that decisions depend on, and its location.
pub fn created(revision: u64, location: &str, record: impl Serialize) -> Response {
    (revision_header(revision), created_at(location, record)).into_response()
}

/// Answers 201 with a record and its location.
pub fn created_at(location: &str, record: impl Serialize) -> Response {
    let location = HeaderValue::from_str(location).map(|location| [(LOCATION, location)]).ok();
    (StatusCode::CREATED, location, Json(record)).into_response()
}

/// Answers 201 with a record that holds a new key, and its location. No cache on the way may store the answer.
pub fn created_with_key(location: &str, record: impl Serialize) -> Response {
    let no_store = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (no_store, created_at(location, record)).into_response()
}

/// Answers with a record and its entity tag.
pub fn tagged(record: impl Serialize) -> Response {
    (etag::header(&record), Json(record)).into_response()
}

/// Answers with a record that was stored and its entity tag: 201 if it is new.
pub fn stored(stored: Stored<impl Serialize>) -> Response {
    let status = if stored.is_new { StatusCode::CREATED } else { StatusCode::OK };
    (status, tagged(stored.record)).into_response()
}

/// Answers 204 to a deletion that raised the tenant's revision.
pub fn deleted(revision: u64) -> Response {
    (StatusCode::NO_CONTENT, revision_header(revision)).into_response()
}
