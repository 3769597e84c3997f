//! `portcullis check`: asks a running service or a folder for one decision.

mod arguments;
mod folder;
mod service;
mod show;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;
use chrono::{DateTime, Utc};
use portcullis_bundle::Bundle;
use portcullis_config::{GivenCredential, Variables};
use portcullis_engine::{CheckBody, Json};
use serde_json::Value;

pub use arguments::CheckArguments;
use arguments::at;
pub(crate) use folder::hint_about_resource;

/// The exit code of an allow.
const ALLOWED: u8 = 0;
/// The exit code of arguments that make no check. A failure that is not a decision has 1.
const REFUSED: u8 = 2;
/// The exit code of a deny. No failure has it, so that no script takes a failure for a decision.
const DENIED: u8 = 3;

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
    let body = arguments.body();
    let bundle = arguments.dir.as_deref().map(Bundle::read_folder).transpose();
    let read = bundle.as_ref().ok().and_then(Option::as_ref);
    // A mistake in the arguments is reported before a fault of the folder.
    if let Some(why) = refusal(arguments, &body, read) {
        writeln!(err, "portcullis: {why}")?;
        return Ok(ExitCode::from(REFUSED));
    }
    let mut answer = match &bundle? {
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
    if arguments.json
        && let Some(answer) = answer.as_object_mut()
    {
        // Hints are part of an explanation, and of what people read.
        answer.remove("hints");
    }
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
fn refusal(arguments: &CheckArguments, body: &Json<'_>, bundle: Option<&Bundle>) -> Option<String> {
    if let Some(path) = arguments.given_twice() {
        return Some(format!(
            "`{path}` is given twice; a list is `--attr '{path}=[\"a\", \"b\"]'`"
        ));
    }
    if let Err(invalid) = CheckBody::parse(body) {
        return Some(format!("the check is not valid: {invalid}"));
    }
    let (user, subject) = (arguments.user.as_deref(), &*arguments.subject);
    if arguments.roles.is_empty() || !folder::has_own_roles(bundle?, user, subject) {
        return None;
    }
    Some(format!(
        "--role has no effect: `{subject}` is the caller, and has the roles of tenant.yaml; \
         --user names another caller"
    ))
}

#[cfg(test)]
mod tests;
