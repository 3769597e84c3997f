//! `portcullis drift --unowned`: lists what decides and has no owner (`docs/semantics.md`, section 10.2).

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::lines::object;
use super::plan::CHANGES;
use crate::report::{Entry, Report, ReportArguments, Section, Sign};
use crate::service::Service;

/// A list of objects that decide.
struct DecidingList {
    kind: &'static str,
    route: &'static str,
    /// The members that name an object.
    members: &'static [&'static str],
    /// Whether an object decides.
    decides: fn(&Value) -> bool,
}

const NAME: &[&str] = &["name"];
const TUPLE: &[&str] = &["sub", "dom", "obj", "act"];
const LISTS: [DecidingList; 6] = [
    DecidingList { kind: "resource", route: "resources", members: NAME, decides: makes_rules },
    DecidingList {
        kind: "rule",
        route: "resources/policies",
        members: TUPLE,
        decides: is_explicit,
    },
    DecidingList { kind: "role", route: "roles", members: NAME, decides: |_| true },
    DecidingList { kind: "type", route: "types", members: &["type"], decides: |_| true },
    DecidingList { kind: "policy", route: "abac/policies", members: NAME, decides: is_enabled },
    DecidingList {
        kind: "resolver",
        route: "resolvers",
        members: &["namespace"],
        decides: is_own_and_enabled,
    },
];

/// Prints what decides and has no owner. The exit code is 0 without any, and 2 with some.
///
/// # Errors
/// The service gives no answer, or refuses one of the lists.
pub(super) async fn run(
    service: &Service,
    arguments: ReportArguments,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let mut found = Vec::new();
    for DecidingList { kind, route, members, decides } in LISTS {
        let records = service.list(route).await?;
        let unowned = records.iter().filter(|one| one["managed_by"].is_null() && decides(one));
        let mut names: Vec<String> = unowned.map(|one| name(one, members)).collect();
        names.sort_unstable();
        found.extend(names.into_iter().map(|name| (kind, name)));
    }
    out.write_all(shown(&found, arguments).as_bytes())?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) })
}

fn shown(found: &[(&str, String)], arguments: ReportArguments) -> String {
    let title = match found.is_empty() {
        true => "everything that decides has an owner",
        false => "these decide and have no owner",
    };
    let entry = |(kind, name): &(&str, String)| Entry::new(Sign::Added, object(kind, name));
    let section = Section::main("differences", "").with_entries(found.iter().map(entry).collect());
    let report = Report::new(title, "Portcullis: no owner").section(section);
    report.shown(arguments, || {
        let object = |(kind, name): &(&str, String)| json!({"kind": kind, "name": name});
        let unowned: Vec<Value> = found.iter().map(object).collect();
        format!("{}\n", json!({"unowned": unowned}))
    })
}

/// Returns the members of a record that name it.
fn name(record: &Value, members: &[&str]) -> String {
    let texts: Vec<&str> = members.iter().filter_map(|member| record[*member].as_str()).collect();
    texts.join(", ")
}

/// Returns whether a resource decides: its default roles make rules, which have no owner of their own.
fn makes_rules(resource: &Value) -> bool {
    resource["defaultRoles"].as_array().is_some_and(|roles| !roles.is_empty())
}

fn is_explicit(rule: &Value) -> bool {
    rule["origin"] == "explicit"
}

fn is_enabled(policy: &Value) -> bool {
    policy["enabled"] == true
}

/// Returns whether policies get attributes from a resolver. The operator's resolvers have no owner.
fn is_own_and_enabled(resolver: &Value) -> bool {
    resolver["origin"] == "tenant" && is_enabled(resolver)
}
