//! `portcullis who-can` and `portcullis what-can`: questions about a tenant folder (`docs/semantics.md`, section 2.12).

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_bundle::Bundle;
use portcullis_bundle::matrix::{what_can, who_can};
use portcullis_engine::resource::split_resource;

use crate::matrix::{decisions, write};
use crate::report_format::ReportFormat;

/// The arguments of `portcullis who-can`.
#[derive(Debug, clap::Args)]
pub struct WhoCanArguments {
    /// A tenant folder.
    pub folder: PathBuf,
    /// The action, such as `read`.
    pub action: String,
    /// The resource with its verb, such as `chart:read`.
    #[arg(value_parser = resource)]
    pub resource: String,
    /// The domain (default: that of the tenant).
    #[arg(long)]
    pub domain: Option<String>,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// The arguments of `portcullis what-can`.
#[derive(Debug, clap::Args)]
pub struct WhatCanArguments {
    /// A tenant folder.
    pub folder: PathBuf,
    /// The subject. A user of `tenant.yaml` has its roles.
    pub subject: String,
    /// A role of the subject, besides those of `tenant.yaml`. May be repeated.
    #[arg(long)]
    pub role: Vec<String>,
    /// The domain (default: that of the tenant).
    #[arg(long)]
    pub domain: Option<String>,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// Prints which roles and subjects may do something, and on what it depends.
///
/// # Errors
/// A folder that is no tenant folder or has a fault; an output that cannot be written.
pub fn who(arguments: &WhoCanArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let WhoCanArguments { folder, action, resource, domain, format } = arguments;
    let bundle = Bundle::read_folder(folder)?;
    let domain = domain.as_deref().unwrap_or(&bundle.tenant);
    let table = who_can(&decisions(&bundle), domain, action, resource);
    write(&table, *format, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what a subject may do on the resources that are registered or named, and on what it depends.
///
/// # Errors
/// A folder that is no tenant folder or has a fault; an output that cannot be written.
pub fn what(arguments: &WhatCanArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let WhatCanArguments { folder, subject, role, domain, format } = arguments;
    let bundle = Bundle::read_folder(folder)?;
    let domain = domain.as_deref().unwrap_or(&bundle.tenant);
    let mut roles = bundle.user(subject).map(|user| user.roles.clone()).unwrap_or_default();
    roles.extend(role.iter().cloned());
    let table = what_can(&decisions(&bundle), domain, subject, &roles);
    write(&table, *format, out)?;
    Ok(ExitCode::SUCCESS)
}

fn resource(text: &str) -> Result<String, &'static str> {
    split_resource(text).map(|_| text.to_owned()).ok_or("expected a resource such as `chart:read`")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;
    use portcullis_bundle::fixture::write_tenant;

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
        // A resource that nothing names, by a pattern.
        let expected = "ann has bill:shred by the action `void` in acme\n";
        assert_eq!(who(&["void", "bill:shred"]), expected);
        assert_eq!(who(&["read", "bill:pay"]), "everything is denied\n");
        assert_eq!(who(&["pay", "bill:pay", "--domain", "other"]), "everything is denied\n");
        let error = run(directory.path(), "who-can", &["pay", "bill"]).expect_err("no resource");
        assert!(error.contains("expected a resource such as `chart:read`"), "{error}");
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
