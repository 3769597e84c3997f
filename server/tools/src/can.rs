//! `portcullis who-can` and `portcullis what-can`: questions about a tenant folder (`docs/semantics.md`, section 2.12), or
//! with `--url` about a running service.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use portcullis_bundle::Bundle;
use portcullis_bundle::matrix::{what_can, who_can};
use portcullis_engine::action::Action;
use portcullis_engine::resource::split_resource;

use crate::check::hint_about_resource;
use crate::matrix::{decisions, write};
use crate::remote_arguments::RemoteArguments;
use crate::report::{ReportFormat, TableArguments};

/// The arguments of `portcullis who-can`.
#[derive(Debug, clap::Args)]
pub struct WhoCanArguments {
    /// A tenant folder, unless --url names a service; the action, such as `read`, by default the verb of the resource; and the
    /// resource with its verb, such as `chart:read`.
    #[arg(value_names = ["DIR", "ACTION", "RESOURCE"], num_args = 1..=3, required = true)]
    words: Vec<String>,
    #[command(flatten)]
    pub remote: RemoteArguments,
    /// The RBAC domain to decide in, such as a workspace [default: the tenant of the folder; with --url the domain of the
    /// token or the service key]. Needed in `saas` mode and with SINGLE_TENANT with a service key that has none.
    #[arg(long)]
    pub domain: Option<String>,
    #[command(flatten)]
    pub table: TableArguments,
}

/// The arguments of `portcullis what-can`.
#[derive(Debug, clap::Args)]
pub struct WhatCanArguments {
    /// A tenant folder, unless --url names a service; and the subject. A user of `tenant.yaml` has its roles.
    #[arg(value_names = ["DIR", "SUBJECT"], num_args = 1..=2, required = true)]
    words: Vec<String>,
    #[command(flatten)]
    pub remote: RemoteArguments,
    /// A role of the subject, besides the roles of `tenant.yaml`, and in place of the roles that the service knows. May be
    /// repeated.
    #[arg(long)]
    pub role: Vec<String>,
    /// The RBAC domain to decide in, such as a workspace [default: the tenant of the folder; with --url the domain of the
    /// token or the service key]. Needed in `saas` mode and with SINGLE_TENANT with a service key that has none.
    #[arg(long)]
    pub domain: Option<String>,
    #[command(flatten)]
    pub table: TableArguments,
}

/// Prints which roles and subjects may do something, and on what it depends.
///
/// # Errors
/// A folder that is not a tenant folder or has a fault; an output that cannot be written.
pub fn who(arguments: &WhoCanArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (folder, action, resource) = arguments.question()?;
    let bundle = Bundle::read_folder(folder)?;
    let domain = arguments.domain.as_deref().unwrap_or(&bundle.tenant);
    let action = Action::of(action, resource);
    let table = who_can(&decisions(&bundle), domain, action, resource);
    let code = write(&table, arguments.table, out)?;
    // The other forms are for programs.
    if arguments.table.report.format == ReportFormat::Text
        && let Some(hint) = hint_about_resource(&bundle, resource)
    {
        writeln!(out, "hint: {hint}")?;
    }
    Ok(code)
}

/// Prints what a subject may do on the resources that are registered or named, and on what it depends.
///
/// # Errors
/// A folder that is not a tenant folder or has a fault; an output that cannot be written.
pub fn what(arguments: &WhatCanArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (folder, subject) = arguments.question()?;
    let bundle = Bundle::read_folder(folder)?;
    let domain = arguments.domain.as_deref().unwrap_or(&bundle.tenant);
    let mut roles = bundle.user(subject).map(|user| user.roles.clone()).unwrap_or_default();
    // The named roles count beside those of the sample user.
    roles.extend(arguments.role.iter().cloned());
    let table = what_can(&decisions(&bundle), domain, subject, &roles);
    write(&table, arguments.table, out)
}

impl WhoCanArguments {
    /// Returns the folder, the action, if there is one, and the resource. With `--url` the folder is empty.
    ///
    /// # Errors
    /// There are too many words or too few, or the last is not a resource.
    pub(crate) fn question(&self) -> anyhow::Result<(&Path, Option<&str>, &str)> {
        // A service needs no folder, so the first word is one only without `--url`.
        let (folder, words) = match (self.words.split_first(), &self.remote.url) {
            (Some((folder, words)), None) => (folder.as_str(), words),
            _ => ("", &*self.words),
        };
        let (action, resource) = match words {
            [action, resource] => (Some(action.as_str()), resource),
            [resource] => (None, resource),
            _ => bail!("expected DIR [ACTION] RESOURCE, or with --url [ACTION] RESOURCE"),
        };
        let is_resource = split_resource(resource).is_some();
        ensure!(is_resource, "`{resource}`: expected a resource such as `chart:read`");
        Ok((Path::new(folder), action, resource))
    }
}

impl WhatCanArguments {
    /// Returns the folder and the subject. With `--url` the folder is empty.
    ///
    /// # Errors
    /// There are too many words or too few.
    pub(crate) fn question(&self) -> anyhow::Result<(&Path, &str)> {
        match (&*self.words, &self.remote.url) {
            ([folder, subject], None) => Ok((Path::new(folder), subject)),
            ([subject], Some(_)) => Ok((Path::new(""), subject)),
            _ => bail!("expected DIR SUBJECT, or with --url SUBJECT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use portcullis_test_tenants::write_tenant;

    use super::*;

    #[derive(Parser)]
    enum Command {
        WhoCan(WhoCanArguments),
        WhatCan(WhatCanArguments),
    }

    fn run(folder: &Path, command: &str, arguments: &[&str]) -> Result<String, String> {
        let folder = folder.display().to_string();
        let all = [&["portcullis", command, &folder], arguments].concat();
        let parsed = Command::try_parse_from(all).map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        match &parsed {
            Command::WhoCan(arguments) => who(arguments, &mut out),
            Command::WhatCan(arguments) => what(arguments, &mut out),
        }
        .map_err(|error| format!("{error:#}"))?;
        Ok(String::from_utf8(out).expect("text"))
    }

    fn folder() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a folder");
        write_tenant(directory.path());
        let rules = "- {sub: clerk, obj: bill:pay, act: pay, effect: allow}\n\
                     - {sub: ann, obj: 'bill:*', act: void, effect: allow}\n";
        std::fs::write(directory.path().join("rules.yaml"), rules).expect("writable");
        directory
    }

    #[test]
    fn a_folder_says_who_can_do_something() {
        let directory = folder();
        let who = |arguments: &[&str]| run(directory.path(), "who-can", arguments).expect("text");
        assert_eq!(who(&["pay", "bill:pay"]), "clerk has bill:pay in acme\n");
        assert_eq!(who(&["bill:pay"]), "clerk has bill:pay in acme\n");
        // A resource that nothing names, by a pattern.
        let expected = "ann has bill:shred by the action `void` in acme\n";
        assert_eq!(who(&["void", "bill:shred"]), expected);
        assert_eq!(who(&["read", "bill:pay"]), "everything is denied\n");
        let hint = "hint: no rule and no policy names `wike:read`; did you mean `wiki:read`?\n";
        assert_eq!(who(&["wike:read"]), format!("everything is denied\n{hint}"));
        assert!(!who(&["wike:read", "--format", "json"]).contains("hint"));
        assert_eq!(who(&["pay", "bill:pay", "--domain", "other"]), "everything is denied\n");
        let error = run(directory.path(), "who-can", &["pay", "bill"]).expect_err("no resource");
        assert!(error.contains("expected a resource such as `chart:read`"), "{error}");
        for (arguments, expected) in [
            (&[][..], "expected DIR [ACTION] RESOURCE"),
            (&["pay", "bill:pay", "--url", "http://127.0.0.1:1"], "expected DIR [ACTION] RESOURCE"),
            (&["pay", "bill:pay", "--token", "t"], "--url"),
        ] {
            let error = run(directory.path(), "who-can", arguments).expect_err("no question");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_folder_says_what_a_subject_can_do() {
        let directory = folder();
        let what = |arguments: &[&str]| run(directory.path(), "what-can", arguments).expect("text");
        let condition = "unless (resource.locked == true) ?? false";
        let wiki = |who: &str| format!("{who} has wiki:read in acme {condition}\n");
        assert_eq!(what(&["nobody"]), "everything is denied\n");
        let clerk = what(&["nobody", "--role", "clerk"]);
        assert_eq!(clerk, "nobody has bill:pay in acme\n");
        let reader = what(&["nobody", "--role", "reader"]);
        assert_eq!(reader, wiki("nobody"));
        assert!(what(&["ann"]).contains("ann has bill:* by the action `void` in acme\n"));
    }
}
