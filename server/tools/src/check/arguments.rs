//! The arguments of the command, and the body of the check that they make.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::nearest::nearest;
use portcullis_engine::request::instant;
use portcullis_engine::{Json, json};
use url::Url;

use crate::service_url::service_url;

/// The kinds of attributes that a check can have.
const KINDS: [&str; 4] = ["user", "resource", "action", "context"];

/// The arguments of `portcullis check`.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
#[command(group(clap::ArgGroup::new("timed").args(["dir", "explain"]).multiple(true)))]
pub struct CheckArguments {
    /// The subject, such as `alice`.
    pub(super) subject: String,
    /// The action, such as `read` [default: the verb of the resource].
    pub(super) action: Option<String>,
    /// The resource with its verb, such as `document:read`.
    pub(super) resource: String,
    /// The service to ask.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8080",
        value_parser = service_url,
        conflicts_with = "dir"
    )]
    pub(super) url: Url,
    /// The token to ask with; better in the variable TOKEN, because other users of the machine see arguments.
    #[arg(long, conflicts_with_all = ["key", "dir"])]
    pub(super) token: Option<String>,
    /// The service key to ask with; better in the variable SERVICE_API_KEY. It needs the permission `access:evaluate`.
    #[arg(long, conflicts_with = "dir")]
    pub(super) key: Option<String>,
    /// Decide with the files of this tenant folder instead. Resolvers are not asked.
    #[arg(long)]
    pub(super) dir: Option<PathBuf>,
    /// The user of `tenant.yaml` whose token the check comes with (default: the subject, if it is such a user).
    #[arg(long, value_name = "NAME", requires = "dir")]
    pub(super) user: Option<String>,
    /// The time of the check (default: now). A service takes it with --explain only.
    #[arg(long, value_name = "RFC 3339", requires = "timed", value_parser = moment)]
    pub(super) now: Option<DateTime<Utc>>,
    /// The RBAC domain to decide in, such as a workspace [default: the domain of the token or the service key; with --dir the
    /// tenant]. Needed in `saas` mode and with SINGLE_TENANT with a service key that has none.
    #[arg(long)]
    pub(super) domain: Option<String>,
    /// Roles of the subject. They count only for a subject that is not the caller.
    #[arg(long = "role", value_name = "ROLE,…", value_delimiter = ',')]
    pub(super) roles: Vec<String>,
    /// An attribute of `user`, `resource`, `action` or `context`, such as `user.ward=er` or `context.amount=25`. The value is
    /// JSON, or else text; `null` is an absent attribute, which no entity supplies.
    #[arg(long = "attr", value_name = "NAME=VALUE", value_parser = attribute)]
    pub(super) attributes: Vec<(String, String, Json<'static>)>,
    /// Show every rule, policy and attribute that was looked at. A service shows them to managers.
    #[arg(long)]
    pub(super) explain: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

impl CheckArguments {
    /// Returns the name of an attribute that is given twice: an object cannot have a member twice.
    pub(super) fn given_twice(&self) -> Option<String> {
        let roles = (!self.roles.is_empty()).then(|| "user.roles".to_owned());
        let given = self.attributes.iter().map(|(kind, name, _)| format!("{kind}.{name}"));
        let mut seen = HashSet::new();
        given.chain(roles).find(|path| !seen.insert(path.clone()))
    }

    /// Returns the body of `POST /api/v1/check`. It may be invalid: [`portcullis_engine::CheckBody`] judges it.
    pub(super) fn body(&self) -> Json<'static> {
        let mut members =
            vec![member("subject", text(&self.subject)), member("resource", text(&self.resource))];
        members.extend(self.action.as_deref().map(|action| member("action", text(action))));
        members.extend(self.domain.as_deref().map(|domain| member("domain", text(domain))));
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
        // No name is there twice, because `given_twice` has refused that.
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

/// Reads `user.ward=er` or `context.ip=10.0.0.1`: kind, name and value. The value is JSON if it is a number, a boolean, a string
/// in quotes, `null` or a list, and else text.
pub(super) fn attribute(argument: &str) -> Result<(String, String, Json<'static>), String> {
    let (path, value) = argument.split_once('=').ok_or_else(|| expected(""))?;
    let (kind, name) = path.split_once('.').ok_or_else(|| expected(""))?;
    if !KINDS.contains(&kind) {
        let meant = nearest(kind, KINDS).map(|meant| format!("; did you mean `{meant}.{name}`?"));
        return Err(expected(&meant.unwrap_or_default()));
    }
    if name.is_empty() {
        return Err(expected(""));
    }
    let value = match json::parse(value.as_bytes()) {
        // No attribute is an object: braces are a part of a text.
        Ok(Json::Object(_)) | Err(_) => text(value),
        Ok(json) => json.into_owned(),
    };
    Ok((kind.to_owned(), name.to_owned(), value))
}

fn expected(hint: &str) -> String {
    format!("expected `user.<name>=<value>`, or `resource.`, `action.` or `context.`{hint}")
}

/// Reads an instant of the command line.
pub(super) fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let read = instant(&Json::String(text.into()), &Place::root(), &mut Problems::default());
    read.ok_or("expected an RFC 3339 date-time such as `2026-11-20T09:00:00Z`".into())
}
