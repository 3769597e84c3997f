//! Warnings in answers to writes (`docs/semantics.md`, section 3.9).

use std::borrow::Cow;

use portcullis_engine::condition::Test;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::{Condition, expression};
use serde::Serialize;
use utoipa::ToSchema;

/// The advice about an order of texts that are date-times.
pub const INSTEAD_OF_ORDERS: &str = "write `x before y` for `<`, `x after y` for `>`, `!(x after y)` for `<=`, and `!(x before y)` for `>=`";

/// A doubt about a written record. It never changes the outcome of the write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "code": "UNREGISTERED",
    "message": "no registered resource matches `chart:raed`; register it, or correct the name",
    "path": "/obj",
})))]
pub struct Warning {
    pub code: WarningCode,
    /// For a person. A name that it quotes is cut after 256 bytes.
    pub message: String,
    /// The JSON pointer (RFC 6901) of the member of the record.
    pub path: Cow<'static, str>,
}

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WarningCode {
    /// No registered resource has the name or the verb.
    Unregistered,
    /// The record belongs to an owner, and the write changed nothing.
    Managed,
    /// A test of a condition is undetermined in every check.
    NeverDecided,
    /// A test of a condition orders date-times as texts.
    DatetimesAsTexts,
}

impl Warning {
    /// Returns the warning that `pattern`, the member at `path`, matches no registered resource.
    pub fn unregistered_resource(path: &'static str, pattern: &str) -> Self {
        let name = quoted(pattern);
        let message =
            format!("no registered resource matches {name}; register it, or correct the name");
        Self { code: WarningCode::Unregistered, message, path: path.into() }
    }

    /// Returns the warning that a registration met a resource of `owner`.
    pub fn managed(owner: &str) -> Self {
        let owner = quoted(owner);
        let message = format!(
            "{owner} manages this resource, and nothing was changed; change it there, or send `force=true`"
        );
        Self { code: WarningCode::Managed, message, path: "".into() }
    }

    /// Returns the warning that the test at `path` is undetermined in every check.
    pub fn never_decided(path: Cow<'static, str>, test: &Test) -> Self {
        let shown = quoted(expression::print(&Condition::Test(test.clone())));
        let message = format!(
            "{shown} is undetermined in every check, because its operator never compares these types; use another operator"
        );
        Self { code: WarningCode::NeverDecided, message, path }
    }

    /// Returns the warning that the test at `path` orders date-times as texts.
    pub fn datetimes_as_texts(path: Cow<'static, str>, test: &Test) -> Self {
        let shown = quoted(expression::print(&Condition::Test(test.clone())));
        let message = format!("{shown} orders date-times as texts; {INSTEAD_OF_ORDERS}");
        Self { code: WarningCode::DatetimesAsTexts, message, path }
    }

    /// Returns the warning that no registered resource has `verb`, the action of a rule.
    pub fn unregistered_verb(verb: &str) -> Self {
        let verb = quoted(verb);
        let message = format!(
            "no registered resource has the verb {verb}; register one, or correct the verb"
        );
        Self { code: WarningCode::Unregistered, message, path: "/act".into() }
    }
}
