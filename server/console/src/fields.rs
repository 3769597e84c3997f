//! Forms that ask by `GET`: their fields, and the body of a call of the API that they stand for.

use http::{StatusCode, Uri};
use portcullis_engine::{Json, json};
use portcullis_http::error::ApiError;

use crate::next::parameter;
use crate::visit::Visit;

/// The options of a choice: each value with its word.
pub(crate) type Options = &'static [(&'static str, &'static str)];

/// The content of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Choice(Options),
    /// Texts with commas between them.
    Texts,
    /// Subjects with commas between them.
    Subjects,
    Number,
    Json,
}

/// A field as a page declares it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldRow {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) kind: Kind,
}

/// The domain of a question.
pub(crate) const DOMAIN: FieldRow =
    FieldRow { name: "domain", label: "Domain", hint: "", kind: Kind::Text };
/// The revision by whose rules a question is decided.
pub(crate) const AT_REVISION: FieldRow = FieldRow {
    name: "at_revision",
    label: "Revision",
    hint: "the present one",
    kind: Kind::Number,
};

/// A field with its value.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    kind: Kind,
    pub(crate) value: String,
}

impl Field {
    /// Returns the options of a choice.
    pub(crate) fn options(&self) -> Options {
        match self.kind {
            Kind::Choice(options) => options,
            _ => &[],
        }
    }

    /// Returns whether the field has several lines.
    pub(crate) fn is_long(&self) -> bool {
        matches!(self.kind, Kind::Json)
    }

    /// Returns the value as a member of a body.
    fn json(&self) -> Result<Json<'_>, ApiError> {
        let value = &*self.value;
        Ok(match self.kind {
            Kind::Text | Kind::Choice(_) => text(value),
            Kind::Texts => Json::Array(listed(value).map(text).collect()),
            Kind::Subjects => Json::Array(listed(value).map(subject).collect()),
            // A text that is not a number goes on as it is: the reader of the body names its fault.
            Kind::Number => value.parse::<u64>().map_or(text(value), |n| Json::Number(n.into())),
            Kind::Json => json::parse(value.as_bytes()).map_err(|error| {
                ApiError::bad_request(format!("expected JSON in `{}`: {error}", self.name))
            })?,
        })
    }
}

/// Returns the fields of a form with the values of a query.
pub(crate) fn fields_of(rows: &[FieldRow], uri: &Uri) -> Vec<Field> {
    let fields = rows.iter().map(|&FieldRow { name, label, hint, kind }| {
        let value = parameter(uri, name).unwrap_or_default();
        Field { name, label, hint, kind, value }
    });
    fields.collect()
}

/// Returns the body of a call: a member for each field that has a value.
///
/// # Errors
/// A field that has JSON has something else.
pub(crate) fn body_of(fields: &[Field]) -> Result<String, ApiError> {
    let filled = fields.iter().filter(|field| !field.value.trim().is_empty());
    let members = filled.map(|field| Ok((field.name.into(), field.json()?)));
    Ok(Json::Object(members.collect::<Result<_, ApiError>>()?).to_string())
}

fn text(value: &str) -> Json<'_> {
    Json::String(value.into())
}

fn subject(name: &str) -> Json<'_> {
    Json::Object(vec![("subject".into(), text(name))])
}

fn listed(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// The fault of a form, which stands beside its fields.
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    message: String,
    request_id: String,
}

impl Fault {
    /// Returns the fault of a form that `error` refuses.
    ///
    /// # Errors
    /// The form is not the cause.
    pub(crate) fn of(visit: &Visit, error: ApiError) -> Result<Self, ApiError> {
        let status = error.status();
        // Other statuses are about the person, the rates or the service, and no change of the form mends them.
        let is_of_form = [400, 404, 409, 412, 422].contains(&status.as_u16());
        match is_of_form {
            true => {
                Ok(Self { status, message: error.message(), request_id: visit.context.id.text() })
            }
            false => Err(error),
        }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.request_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [FieldRow; 5] = [
        FieldRow { name: "subject", label: "Subject", hint: "", kind: Kind::Text },
        FieldRow { name: "roles", label: "Roles", hint: "", kind: Kind::Texts },
        FieldRow { name: "subjects", label: "Subjects", hint: "", kind: Kind::Subjects },
        FieldRow { name: "at_revision", label: "Revision", hint: "", kind: Kind::Number },
        FieldRow { name: "attributes", label: "Attributes", hint: "", kind: Kind::Json },
    ];

    fn body(query: &str) -> Result<String, String> {
        let uri: Uri = format!("/ask?{query}").parse().expect("a URI");
        body_of(&fields_of(&ROWS, &uri)).map_err(|error| error.message())
    }

    #[test]
    fn a_form_is_the_body_of_a_call() {
        for (query, expected) in [
            ("", "{}"),
            ("subject=ann&roles=", r#"{"subject":"ann"}"#),
            (
                "roles=a,%20b,,&subjects=ann",
                r#"{"roles":["a","b"],"subjects":[{"subject":"ann"}]}"#,
            ),
            ("at_revision=12", r#"{"at_revision":12}"#),
            ("at_revision=-1", r#"{"at_revision":"-1"}"#),
            ("attributes=%7B%22user%22:%7B%7D%7D", r#"{"attributes":{"user":{}}}"#),
        ] {
            assert_eq!(body(query).as_deref(), Ok(expected), "{query}");
        }
        let fault = body("attributes=%7B%22a%22:1,%22a%22:2%7D").expect_err("a key is twice there");
        assert!(fault.starts_with("expected JSON in `attributes`"), "{fault}");
    }
}
