//! The form that selects decisions.

use askama::Template;
use http::Uri;
use http::uri::PathAndQuery;
use portcullis_http::query::query;
use url::form_urlencoded;

#[derive(Template)]
#[template(path = "decisions_filter.html")]
pub(super) struct FilterForm {
    fields: Vec<Field>,
    /// The address of new decisions with the same filter.
    live: String,
}

struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
    hint: &'static str,
    options: &'static [(&'static str, &'static str)],
}

const DECISION: &[(&str, &str)] = &[("", "any"), ("allow", "Allow"), ("deny", "Deny")];
const VIA: &[(&str, &str)] = &[
    ("", "any"),
    ("check", "check"),
    ("legacy", "legacy"),
    ("batch", "batch"),
    ("authzen", "AuthZEN"),
];
const UNDETERMINED: &[(&str, &str)] = &[("", "any"), ("true", "yes"), ("false", "no")];
const INSTANT: &str = "2026-05-16T09:30:00Z";

/// The name, the label, a hint and the options of each field.
type FieldRow = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const FIELDS: [FieldRow; 10] = [
    ("subject", "Subject", "", &[]),
    ("resource", "Resource", "chart:read", &[]),
    ("action", "Action", "", &[]),
    ("decision", "Decision", "", DECISION),
    ("rule", "Rule", "default-deny", &[]),
    ("via", "Via", "", VIA),
    ("undetermined", "Undetermined", "", UNDETERMINED),
    ("request_id", "Request id", "", &[]),
    ("from", "From", INSTANT, &[]),
    ("to", "To", INSTANT, &[]),
];

impl FilterForm {
    /// Returns the form with the filter of `uri`.
    pub(super) fn of(uri: &Uri) -> Self {
        let value = |name: &str| {
            let found = query(uri).find(|(own, _)| own == name);
            found.map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        let fields = FIELDS.map(|(name, label, hint, options)| Field {
            name,
            label,
            value: value(name),
            hint,
            options,
        });
        let others =
            query(uri).filter(|(name, _)| name != "cursor" && name != "from" && name != "to");
        let filter = form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        Self { fields: fields.into_iter().collect(), live: format!("decisions/live?{filter}") }
    }
}

/// Returns `uri` without the parameters that are empty: a form sends its empty fields.
pub(super) fn without_empty(uri: &Uri) -> Uri {
    let sent = query(uri).filter(|(_, value)| !value.is_empty());
    let kept = form_urlencoded::Serializer::new(String::new()).extend_pairs(sent).finish();
    let text = format!("{}?{kept}", uri.path());
    PathAndQuery::try_from(text).map(Uri::from).unwrap_or_default()
}
