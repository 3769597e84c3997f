//! The body of a check, from the arguments.

use std::borrow::Cow;
use std::collections::HashSet;

use chrono::{DateTime, Utc};
use portcullis_engine::nearest::nearest;
use portcullis_engine::{Json, json};

/// The kinds of attributes that a check can have.
const KINDS: [&str; 4] = ["user", "resource", "action", "context"];

/// The arguments that make a check.
pub(super) struct Question<'a> {
    pub(super) subject: &'a str,
    pub(super) action: &'a str,
    pub(super) resource: &'a str,
    pub(super) domain: Option<&'a str>,
    pub(super) roles: &'a [String],
    /// Kind, name and value.
    pub(super) attributes: &'a [(String, String, Json<'static>)],
}

impl Question<'_> {
    /// Returns the name of an attribute that is given twice: an object cannot have a member twice.
    pub(super) fn given_twice(&self) -> Option<String> {
        let roles = (!self.roles.is_empty()).then(|| "user.roles".to_owned());
        let given = self.attributes.iter().map(|(kind, name, _)| format!("{kind}.{name}"));
        let mut seen = HashSet::new();
        given.chain(roles).find(|path| !seen.insert(path.clone()))
    }

    /// Returns the body of `POST /api/v1/check`. It may be invalid: [`portcullis_engine::CheckBody`] judges it.
    pub(super) fn body(&self) -> Json<'static> {
        let mut members = vec![
            member("subject", text(self.subject)),
            member("resource", text(self.resource)),
            member("action", text(self.action)),
        ];
        members.extend(self.domain.map(|domain| member("domain", text(domain))));
        let kinds = KINDS.map(|kind| (kind, self.for_kind(kind)));
        let kinds = kinds.into_iter().filter(|(_, attributes)| !attributes.is_empty());
        let kinds = kinds.map(|(kind, attributes)| member(kind, Json::Object(attributes)));
        let attributes: Vec<_> = kinds.collect();
        if !attributes.is_empty() {
            members.push(member("attributes", Json::Object(attributes)));
        }
        Json::Object(members)
    }

    fn for_kind(&self, kind: &str) -> Vec<(Cow<'static, str>, Json<'static>)> {
        let given = self.attributes.iter().filter(|(of, ..)| of == kind);
        let mut all: Vec<_> =
            given.map(|(_, name, value)| (Cow::Owned(name.clone()), value.clone())).collect();
        if kind == "user" && !self.roles.is_empty() {
            let roles = Json::Array(self.roles.iter().map(|role| text(role)).collect());
            all.push(member("roles", roles));
        }
        all
    }
}

/// Returns the body with the time of an explained check.
pub(super) fn at(body: Json<'static>, now: Option<DateTime<Utc>>) -> Json<'static> {
    match (body, now) {
        (Json::Object(mut members), Some(now)) => {
            members.push(member("now", Json::String(now.to_rfc3339().into())));
            Json::Object(members)
        }
        (body, _) => body,
    }
}

fn member(name: &'static str, value: Json<'static>) -> (Cow<'static, str>, Json<'static>) {
    (name.into(), value)
}

fn text(text: &str) -> Json<'static> {
    Json::String(Cow::Owned(text.to_owned()))
}

/// Reads `user.ward=er` or `context.ip=10.0.0.1`: kind, name and value. The value is JSON if it is a number, a boolean, a string in quotes or a
/// list, and else text.
pub(super) fn attribute(argument: &str) -> Result<(String, String, Json<'static>), String> {
    let expected = |hint: String| {
        format!("expected `user.<name>=<value>`, or `resource.`, `action.` or `context.`{hint}")
    };
    let (path, value) = argument.split_once('=').ok_or_else(|| expected(String::new()))?;
    let (kind, name) = path.split_once('.').ok_or_else(|| expected(String::new()))?;
    if !KINDS.contains(&kind) {
        let meant = nearest(kind, KINDS).map(|meant| format!("; did you mean `{meant}.{name}`?"));
        return Err(expected(meant.unwrap_or_default()));
    }
    if name.is_empty() {
        return Err(expected(String::new()));
    }
    let value = match json::parse(value.as_bytes()) {
        Ok(Json::Null | Json::Object(_)) | Err(_) => text(value),
        Ok(json) => json.into_owned(),
    };
    Ok((kind.to_owned(), name.to_owned(), value))
}
