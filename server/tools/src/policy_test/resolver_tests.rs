//! Resolvers of tenant folders: their components run, and nothing is sent.

use std::path::Path;

use portcullis_test_tenants::{edit, write_tenant};

use super::tests::{Ran, test};
use super::*;
use crate::exit::REFUSED;

/// A tenant with one policy that reads the resolver `module`, and these cases.
fn tenant(module: &str, more: &str, test: &str, cases: &str) -> (tempfile::TempDir, PathBuf) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/resolvers");
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("resolvers").join(module);
    fs::create_dir_all(&to).expect("writable");
    for file in ["manifest.json", "descriptor.json", &format!("{module}.wasm")] {
        fs::copy(samples.join(module).join(file), to.join(file)).expect("a copy");
    }
    let tenant = folder.path().join("acme");
    write_tenant(&tenant);
    let policy = format!(
        "- name: known\n  resource: wiki:list\n  effect: allow\n  priority: 1\n  \
         rule_data: {{type: CONDITION, {test}}}\n"
    );
    for (name, text) in [
        ("policies.yaml", policy),
        ("resolvers.yaml", format!("- module: {module}\n{more}")),
        ("cases.yaml", cases.to_owned()),
    ] {
        fs::write(tenant.join(name), text).expect("writable");
    }
    (folder, tenant)
}

/// A case of `subject` that expects this decision.
fn case(subject: &str, decision: &str, more: &str) -> String {
    let rule = if decision == "allow" { "known" } else { "default-deny" };
    format!(
        "- name: {subject} {decision} {}\n  check: {{subject: {subject}, resource: wiki:list, action: list}}\n  \
         expect: {{decision: {decision}, rule: {rule}}}\n{more}",
        more.len()
    )
}

const OPEN: &str = "attribute: hours.open, operator: eq, value: true";
const ENGINEER: &str = "attribute: hr.department, operator: eq, value: engineering";

#[track_caller]
fn refused(ran: &Ran, expected: &str) {
    let (status, out, err) = ran;
    assert!(err.contains(expected), "{err}");
    assert_eq!((*status, &**out), (ExitCode::from(REFUSED), ""));
}

#[test]
fn a_component_runs_at_the_instant_of_the_case_with_the_configuration_of_the_tenant() {
    let cases = [
        case("ann", "allow", "  now: 2026-01-15T10:30:00Z\n"),
        case("ann", "deny", "  now: 2026-01-15T10:29:59Z\n"),
        // Without an instant it is ten o'clock.
        case("ann", "deny", ""),
    ];
    let config = "  config: {opens: '10:30', closes: '20:00', days: thu, utc_offset: '+00:00'}\n";
    let (_folder, folder) = tenant("business-hours", config, OPEN, &cases.concat());
    let (status, out, err) = test(&[&folder], None);
    assert!(out.ends_with("3 passed, 0 failed\n"), "{out}");
    assert_eq!((status, &*err), (ExitCode::SUCCESS, ""));
}

#[test]
fn a_configuration_that_does_not_fit_the_component_is_refused() {
    let cases = case("ann", "allow", "");
    for (config, expected) in [
        ("{opens: '08:00'}", "`config` lacks `closes`, which the module requires"),
        (
            "{opens: '1', closes: '2', days: mon, utc_offset: '+00:00', zone: x}",
            "`config` has `zone`, which the module does not read",
        ),
    ] {
        let more = format!("  config: {config}\n");
        let (_folder, folder) = tenant("business-hours", &more, OPEN, &cases);
        let what = format!("the resolver `hours` cannot be called: {expected}");
        refused(&test(&[&folder], None), &what);
    }
}

#[test]
fn responses_stand_for_the_network() {
    let department =
        |name: &str| format!("{{status: 200, body: {{department: {name}, groups: []}}}}");
    let more = format!(
        "  responses:\n    directory:\n      GET people/ann: {}\n      GET people/bob: {}\n",
        department("engineering"),
        department("sales")
    );
    let own = format!(
        "  responses: {{hr: {{directory: {{GET people/ann: {}}}}}}}\n",
        department("sales")
    );
    let unknown = "  responses: {hr: {directory: {GET people/ann: {status: 404}}}}\n";
    let cases = [
        case("ann", "allow", ""),
        case("bob", "deny", ""),
        case("ann", "deny", &own),
        case("eve", "allow", ""),
        case("ann", "deny", unknown),
    ];
    let (_folder, folder) = tenant("hr-directory", &more, ENGINEER, &cases.concat());
    let (status, out, err) = test(&[&folder], None);
    assert!(out.ends_with("3 passed, 2 failed\n"), "{out}");
    let cause = "resolver `hr`: refused: `responses` has no response for `GET people/eve` of the endpoint `directory`";
    assert!(out.contains(cause), "{out}");
    assert!(out.contains("undetermined: attribute `hr.department` is missing"), "{out}");
    assert_eq!((status, &*err), (ExitCode::FAILURE, ""));
    fs::write(folder.join("resolvers.yaml"), "- module: hr-directory\n").expect("writable");
    let (_, out, _) = test(&[&folder], Some("eve"));
    let cause = "resolver `hr`: refused: `responses` has no response of the endpoint `directory`";
    assert!(out.contains(cause), "{out}");
}

#[test]
fn responses_name_what_there_is() {
    let cases = case("ann", "allow", "  responses: {hr: {}}\n");
    let (_folder, folder) = tenant("hr-directory", "", ENGINEER, &cases);
    for (file, from, to, expected) in [
        ("cases.yaml", "{hr: {}}", "{geo: {}}", "at `/0/responses/geo`: expected the namespace of"),
        (
            "cases.yaml",
            "{geo: {}}",
            "{hr: {source: {}}}",
            "at `/0/responses/hr/source`: expected an endpoint of the resolver `hr`",
        ),
        (
            "cases.yaml",
            "{hr: {source: {}}}",
            "{hr: {directory: {GET a: {status: 99}}}}",
            "/status`: expected a status from 100 to 599",
        ),
        (
            "cases.yaml",
            "{hr: {directory: {GET a: {status: 99}}}}",
            "{hr: {}}\n  resolved: {hr: {}}",
            "at `/0/responses`: expected no responses for `hr`, whose answers are in `resolved`",
        ),
        (
            "resolvers.yaml",
            "module: hr-directory",
            "module: hr-directory\n  responses: {source: {}}",
            "at `/0/responses/source`: expected an endpoint of the resolver `hr`",
        ),
    ] {
        edit(&folder, file, from, to);
        refused(&test(&[&folder], None), expected);
    }
}

#[test]
fn answers_in_a_case_stand_for_a_call() {
    let cases = [
        case("ann", "deny", "  resolved: {hours: {open: false}}\n"),
        case("ann", "deny", "  resolved: {hours: {}}\n  undetermined: allowed\n"),
        case("ann", "deny", "  resolved: {hours: {open: null}}\n  undetermined: allowed\n"),
        // The control: the house is open.
        case("ann", "allow", ""),
    ];
    let (_folder, folder) = tenant("business-hours", "", OPEN, &cases.concat());
    let (status, out, _) = test(&[&folder], None);
    assert!(out.ends_with("4 passed, 0 failed\n"), "{out}");
    assert_eq!(status, ExitCode::SUCCESS);
}

#[test]
fn a_component_that_is_missing_or_another_one_is_named() {
    let cases = case("ann", "allow", "");
    let (_folder, folder) = tenant("business-hours", "", OPEN, &cases);
    let module = folder.join("../resolvers/business-hours");
    let other = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../policies/resolvers/network-zone/network-zone.wasm");
    let component = module.join("business-hours.wasm");
    fs::copy(other, &component).expect("a copy");
    refused(&test(&[&folder], None), "`descriptor.json` declares other attributes than");
    fs::write(&component, "no component").expect("writable");
    refused(&test(&[&folder], None), "business-hours.wasm: not a component");
    fs::remove_file(&component).expect("removable");
    let expected = format!(
        "{0}: the resolver `hours` cannot be called: there is no component (`*.wasm`), and no `Cargo.toml` to build it \
         from; build it into this folder, then run `portcullis resolver inspect --json {0} > {0}/descriptor.json`",
        module.display()
    );
    refused(&test(&[&folder], None), &expected);
    fs::write(module.join("Cargo.toml"), "no crate").expect("writable");
    refused(&test(&[&folder], None), "`cargo build` failed in ");
}
