//! The warnings about a tenant folder.

use std::fs;

use portcullis_test_tenants::{edit, write_tenant};

use super::Bundle;
use super::tests::{CASES_FILE, POLICIES_FILE, RULES_FILE, TREE};

#[test]
fn what_matches_no_registered_resource_gets_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let warnings = || {
        let bundle = Bundle::read_folder(folder.path()).expect("sound");
        bundle.warnings.join("\n").replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(warnings(), "");
    edit(folder.path(), RULES_FILE, "obj: wiki:read, act: read", "obj: wikki:*, act: raed");
    edit(folder.path(), POLICIES_FILE, "resource: wiki:*", "resource: wiki:write");
    let unregistered = "no registered resource matches";
    let expected = format!(
        "rules.yaml:1:22: {unregistered} `wikki:*`; register it, or correct the name
rules.yaml:1:36: no registered resource has the verb `raed`; register one, or correct the verb
policies.yaml:2:13: {unregistered} `wiki:write`; register it, or correct the name"
    );
    assert_eq!(warnings(), expected);
    for all in ["obj: '*', act: '*'", "obj: wiki:*, act: '*'"] {
        fs::write(
            folder.path().join(RULES_FILE),
            format!("- {{sub: writer, {all}, effect: deny}}\n"),
        )
        .expect("writable");
        assert!(!warnings().contains(RULES_FILE), "{all}");
    }
    // Without registered resources there is nothing to compare with.
    edit(folder.path(), "resources.yaml", "- {name", "[] # {name");
    edit(folder.path(), CASES_FILE, "'reader, acme, wiki:read, read'", "default-deny");
    assert_eq!(warnings(), "");
}

#[test]
fn a_test_that_is_never_decided_gets_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    edit(folder.path(), POLICIES_FILE, TREE, "when: request.time == 5");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let warnings = bundle.warnings.join("\n");
    assert!(warnings.contains("`request.time == 5` is undetermined in every check"), "{warnings}");
    let place = format!("{POLICIES_FILE}:");
    assert!(warnings.contains(&place) && !warnings.contains(":1:1:"), "{warnings}");
}

#[test]
fn a_file_with_another_name_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let shown = |text: &str| text.replace(&format!("{}/", folder.path().display()), "");
    for name in ["policys.yaml", "rules.yml", "compose.yaml", "notes.txt", ".hidden.yaml"] {
        fs::write(folder.path().join(name), "").expect("writable");
    }
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let expected = [
        "compose.yaml: this file is not read",
        "policys.yaml: this file is not read; did you mean `policies.yaml`?",
        "rules.yml: this file is not read; did you mean `rules.yaml`?",
    ];
    let warnings: Vec<_> = bundle.warnings.iter().map(|warning| shown(warning)).collect();
    assert_eq!(warnings, expected);
    fs::remove_file(folder.path().join(RULES_FILE)).expect("removable");
    let error = Bundle::read_folder(folder.path()).expect_err("incomplete").to_string();
    let expected = "rules.yaml: there is no such file, but there is `rules.yml`; rename it";
    assert_eq!(shown(&error), expected);
}
