//! The resolvers of a tenant folder, and the messages for ones that are not valid.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_test_tenants::{edit, without_positions, write_tenant};

use crate::Bundle;
use crate::kinds::tests::not_expressible::is_refused_by_its_schema;

const RESOLVERS: &str = "- module: business-hours\n  config: {opens: '07:00'}\n";

/// A small tenant whose policy reads `hours`, with the sample resolver beside it.
fn write(folder: &Path) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/resolvers");
    let module = folder.join("resolvers/business-hours");
    fs::create_dir_all(&module).expect("writable");
    for file in ["manifest.json", "descriptor.json"] {
        fs::copy(samples.join("business-hours").join(file), module.join(file)).expect("a copy");
    }
    let tenant = folder.join("acme");
    write_tenant(&tenant);
    fs::write(tenant.join("resolvers.yaml"), RESOLVERS).expect("writable");
    edit(&tenant, "policies.yaml", "resource.locked", "hours.open");
    edit(
        &tenant,
        "cases.yaml",
        "  expect: {decision: deny",
        "  resolved: {hours: {open: true}}\n  expect: {decision: deny",
    );
    tenant
}

/// The message about that tenant after one edit.
#[track_caller]
fn refused(file: &str, from: &str, to: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let tenant = write(folder.path());
    edit(&tenant, file, from, to);
    let error = Bundle::read_folder(&tenant).expect_err("it must be refused");
    is_refused_by_its_schema(&tenant.join(file), &error.to_string());
    let error = without_positions(&error.to_string());
    let (_, fault) = error.split_once(&format!("{file}: ")).expect("it names the file");
    assert_eq!(fault, expected);
}

#[test]
fn a_manifest_is_what_the_component_has_and_the_tenant_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = Bundle::read_folder(&write(folder.path())).expect("sound");
    let [resolver] = &*bundle.resolvers else { panic!("one resolver") };
    assert_eq!(resolver.manifest.namespace, "hours");
    // A member replaces the whole one.
    assert_eq!(resolver.manifest.config.keys().collect::<Vec<_>>(), ["opens"]);
}

#[test]
fn policies_read_what_there_is() {
    refused(
        "policies.yaml",
        "hours.open",
        "hours.opens",
        "at `/0/rule_data/attribute`: expected `hours.open`, `hours.weekday`; resolver `hours` has no `opens`",
    );
    refused(
        "policies.yaml",
        "hours.open",
        "hr.open",
        "at `/0/rule_data/attribute`: expected an attribute of `user`, `resource`, `action`, `context`, `request` or `token`; there is no resolver `hr`",
    );
    refused(
        "policies.yaml",
        "value: true",
        "value: 1",
        "at `/0/rule_data/attribute`: expected an attribute that `eq` compares with this value (`hours.open` is a boolean)",
    );
}

#[test]
fn cases_resolve_what_there_is() {
    let file = "cases.yaml";
    let at = "at `/1/resolved/hours";
    refused(
        file,
        "{hours:",
        "{hr:",
        "at `/1/resolved/hr`: expected the namespace of a resolver of the tenant",
    );
    refused(
        file,
        "open: true",
        "opens: true",
        &format!("{at}/opens`: expected an attribute of the resolver `hours`"),
    );
    refused(
        file,
        "open: true",
        "open: 'true'",
        &format!("{at}/open`: expected a boolean, not a string"),
    );
    refused(file, "{open: true}", "[]", &format!("{at}`: expected an object, not an array"));
}

#[test]
fn a_resolver_that_is_not_there_is_named() {
    let file = "resolvers.yaml";
    for (to, expected) in [
        ("../secrets", "expected the name of a folder of `resolvers`"),
        (
            "geo",
            "expected a resolver, but neither `resolvers/geo/manifest.json` nor \
             `../resolvers/geo/manifest.json` exists",
        ),
    ] {
        refused(file, "business-hours", to, &format!("at `/0/module`: {expected}"));
    }
    refused(file, "config", "konfig", "at `/0`: field `konfig` is unknown; did you mean `config`?");
    refused(
        file,
        RESOLVERS,
        &RESOLVERS.repeat(2),
        "at `/1`: expected a unique `namespace`, but an earlier item also has `hours`",
    );
}
