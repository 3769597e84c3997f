//! `portcullis check`: asks a running service or a folder for one decision.

mod folder;
mod question;
mod service;
mod show;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use chrono::{DateTime, Utc};
use portcullis_bundle::Bundle;
use portcullis_config::{GivenCredential, Variables};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::request::instant;
use portcullis_engine::{CheckBody, Json};
use serde_json::Value;
use url::Url;

use crate::service_url::service_url;
use question::{Question, at, attribute};

/// The exit code of an allow.
const ALLOWED: u8 = 0;
/// The exit code of arguments that make no check. A failure that is no decision has 1.
const REFUSED: u8 = 2;
/// The exit code of a deny. It differs from that of every failure, so that no script takes a failure for a decision.
const DENIED: u8 = 3;

/// The arguments of `portcullis check`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("timed").args(["dir", "explain"]).multiple(true)))]
pub struct CheckArguments {
    /// The subject, such as `alice`.
    subject: String,
    /// The action, such as `read`.
    action: String,
    /// The resource with its verb, such as `document:read`.
    resource: String,
    /// The service to ask.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8080",
        value_parser = service_url,
        conflicts_with = "dir"
    )]
    url: Url,
    /// The token to ask with; better in the variable TOKEN, because other users of the machine see arguments.
    #[arg(long, conflicts_with_all = ["key", "dir"])]
    token: Option<String>,
    /// The service key to ask with; better in the variable SERVICE_API_KEY. It needs the permission `access:evaluate`.
    #[arg(long, conflicts_with = "dir")]
    key: Option<String>,
    /// Decide with the files of this tenant folder instead. Resolvers are not asked.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The user of `tenant.yaml` whose token the check comes with (default: the subject, if it is such a user).
    #[arg(long, value_name = "NAME", requires = "dir")]
    user: Option<String>,
    /// The time of the check (default: now). A service takes it with --explain only.
    #[arg(long, value_name = "RFC 3339", requires = "timed", value_parser = moment)]
    now: Option<DateTime<Utc>>,
    /// The RBAC domain to decide in, such as a workspace [default: that of the token or the service key; with --dir the
    /// tenant]. Needed in `saas` mode and with SINGLE_TENANT with a service key that has none.
    #[arg(long)]
    domain: Option<String>,
    /// Roles of the subject. They count only for a subject that is not the caller.
    #[arg(long = "role", value_name = "ROLE,…", value_delimiter = ',')]
    roles: Vec<String>,
    /// An attribute of `user`, `resource`, `action` or `context`, such as `user.ward=er` or `context.amount=25`. The value is
    /// JSON, or else text.
    #[arg(long = "attr", value_name = "NAME=VALUE", value_parser = attribute)]
    attributes: Vec<(String, String, Json<'static>)>,
    /// Show every rule, policy and attribute that was looked at. A service shows them to managers.
    #[arg(long)]
    explain: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

/// Asks, and prints the decision, what decided, and the reason. The exit code is 0 for an allow and 3 for a deny.
///
/// `now` is the present, for the conditions of a folder.
///
/// # Errors
/// There is no decision: the service cannot be reached or refuses the call, or the folder is not valid.
pub async fn run(
    arguments: &CheckArguments,
    variables: &Variables,
    now: DateTime<Utc>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let question = Question {
        subject: &arguments.subject,
        action: &arguments.action,
        resource: &arguments.resource,
        domain: arguments.domain.as_deref(),
        roles: &arguments.roles,
        attributes: &arguments.attributes,
    };
    let body = question.body();
    let bundle = arguments.dir.as_deref().map(Bundle::read_folder).transpose();
    let read = bundle.as_ref().ok().and_then(Option::as_ref);
    if let Some(why) = refusal(arguments, &question, &body, read) {
        writeln!(err, "portcullis: {why}")?;
        return Ok(ExitCode::from(REFUSED));
    }
    let answer = match &bundle? {
        Some(bundle) => {
            let now = arguments.now.unwrap_or(now);
            folder::decide(bundle, arguments.user.as_deref(), &body, arguments.explain, now)?
        }
        None => {
            let (token, key) = (arguments.token.as_deref(), arguments.key.as_deref());
            let credential = variables.check_credential(GivenCredential { token, key })?;
            let body = at(body, arguments.now);
            service::ask(&arguments.url, credential, &body, arguments.explain).await?
        }
    };
    let decision = answer.get("decision").and_then(Value::as_str);
    let code = if decision == Some("allow") { ALLOWED } else { DENIED };
    let printed = match arguments.json {
        true => writeln!(out, "{answer}"),
        false => show::answer(&answer, out),
    };
    match printed {
        // The reader has enough, as `head` does. The decision stands.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        printed => printed.context("the answer cannot be written")?,
    }
    Ok(ExitCode::from(code))
}

/// Returns why the arguments make no check.
fn refusal(
    arguments: &CheckArguments,
    question: &Question<'_>,
    body: &Json<'_>,
    bundle: Option<&Bundle>,
) -> Option<String> {
    if let Some(path) = question.given_twice() {
        return Some(format!(
            "`{path}` is given twice; a list is `--attr '{path}=[\"a\", \"b\"]'`"
        ));
    }
    if let Err(invalid) = CheckBody::parse(body) {
        return Some(format!("the check is not valid: {invalid}"));
    }
    let (user, subject) = (arguments.user.as_deref(), question.subject);
    if question.roles.is_empty() || !folder::has_own_roles(bundle?, user, subject) {
        return None;
    }
    Some(format!(
        "--role has no effect: `{subject}` is the caller, and has the roles of tenant.yaml; \
         --user names another caller"
    ))
}

/// Reads an instant of the command line.
fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let read = instant(&Json::String(text.into()), &Place::root(), &mut Problems::default());
    read.ok_or("expected an RFC 3339 date-time such as `2026-11-20T09:00:00Z`".into())
}

#[cfg(test)]
mod tests;
