//! The form that selects decisions.

use askama::Template;
use http::Uri;
use http::uri::PathAndQuery;
use portcullis_http::query::query;
use url::form_urlencoded;

use crate::fields::{Field, FieldRow, Kind, Options, fields_of};

#[derive(Template)]
#[template(path = "decisions_filter.html")]
pub(super) struct FilterForm {
    fields: Vec<Field>,
    /// The address of new decisions with the same filter.
    live: String,
}

const DECISION: Options = &[("", "any"), ("allow", "Allow"), ("deny", "Deny")];
const VIA: Options = &[
    ("", "any"),
    ("check", "check"),
    ("legacy", "legacy"),
    ("batch", "batch"),
    ("authzen", "AuthZEN"),
];
const UNDETERMINED: Options = &[("", "any"), ("true", "yes"), ("false", "no")];
const INSTANT: &str = "2026-05-16T09:30:00Z";

const FIELDS: [FieldRow; 10] = [
    FieldRow { name: "subject", label: "Subject", hint: "", kind: Kind::Text },
    FieldRow { name: "resource", label: "Resource", hint: "chart:read", kind: Kind::Text },
    FieldRow { name: "action", label: "Action", hint: "", kind: Kind::Text },
    FieldRow { name: "decision", label: "Decision", hint: "", kind: Kind::Choice(DECISION) },
    FieldRow { name: "rule", label: "Rule", hint: "default-deny", kind: Kind::Text },
    FieldRow { name: "via", label: "Via", hint: "", kind: Kind::Choice(VIA) },
    FieldRow {
        name: "undetermined",
        label: "Undetermined",
        hint: "",
        kind: Kind::Choice(UNDETERMINED),
    },
    FieldRow { name: "request_id", label: "Request id", hint: "", kind: Kind::Text },
    FieldRow { name: "from", label: "From", hint: INSTANT, kind: Kind::Text },
    FieldRow { name: "to", label: "To", hint: INSTANT, kind: Kind::Text },
];

impl FilterForm {
    /// Returns the form with the filter of `uri`.
    pub(super) fn of(uri: &Uri) -> Self {
        // New decisions have no page, and no time in the past.
        let others =
            query(uri).filter(|(name, _)| name != "cursor" && name != "from" && name != "to");
        let filter = form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        Self { fields: fields_of(&FIELDS, uri), live: format!("decisions/live?{filter}") }
    }
}

/// Returns `uri` without the parameters that are empty: a form sends its empty fields.
pub(super) fn without_empty(uri: &Uri) -> Uri {
    let sent = query(uri).filter(|(_, value)| !value.is_empty());
    let kept = form_urlencoded::Serializer::new(String::new()).extend_pairs(sent).finish();
    let text = format!("{}?{kept}", uri.path());
    PathAndQuery::try_from(text).map(Uri::from).unwrap_or_default()
}
