//! `portcullis matrix` and `portcullis diff`: the decisions of folders, without a server (`docs/semantics.md`, section 2.13).

use std::fs;
use std::path::Path;

use crate::support::process::{Finished, finish, portcullis};

/// A tenant in which a role reads, and writes in its own ward.
const TENANT: [(&str, &str); 5] = [
    ("tenant.yaml", "tenant: acme\nusers: []\n"),
    ("resources.yaml", "- {name: chart:read, defaultRoles: [doctor]}\n"),
    ("rules.yaml", "[]\n"),
    (
        "policies.yaml",
        "- {name: own-ward, resource: chart:write, effect: allow, priority: 1, when: user.ward == resource.ward}\n",
    ),
    ("cases.yaml", "[]\n"),
];

fn write(folder: &Path, changes: &[(&str, &str)]) {
    fs::create_dir(folder).unwrap();
    for (name, text) in TENANT.iter().chain(changes) {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn run(command: &str, folders: &[&Path]) -> Finished {
    let mut process = portcullis(&[command]);
    process.args(folders);
    finish(process)
}

#[test]
fn a_folder_shows_who_has_what() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("acme");
    write(&folder, &[]);
    let done = run("matrix", &[&folder]);
    let expected = "doctor has chart:read in acme\n\
        everybody has chart:write by any action if user.ward == resource.ward";
    assert_eq!((done.code, &*done.out, &*done.err), (Some(0), expected, ""));
}

#[test]
fn the_exit_code_of_a_difference_is_two() {
    let directory = tempfile::tempdir().unwrap();
    let [before, same, after] = ["before", "same", "after"].map(|name| directory.path().join(name));
    write(&before, &[]);
    write(&same, &[]);
    let rules = "- {sub: nurse, obj: chart:read, act: read, effect: allow}\n";
    write(&after, &[("rules.yaml", rules)]);
    let done = run("diff", &[&before, &same]);
    assert_eq!((done.code, &*done.out, &*done.err), (Some(0), "no decision changes", ""));
    let done = run("diff", &[&before, &after]);
    let expected = "nurse gains chart:read in acme";
    assert_eq!((done.code, &*done.out, &*done.err), (Some(2), expected, ""));
    let done = run("diff", &[&before, directory.path()]);
    assert_eq!(done.code, Some(1), "{}", done.out);
    assert!(done.err.contains("tenant.yaml"), "{}", done.err);
}

#[test]
fn a_relation_is_open_and_can_be_a_row() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("acme");
    let types = "- {type: chart, relations: {editor: \"[user]\"}}\n";
    let rules = "- {sub: editor@resource, obj: chart:read, act: read, effect: allow}\n";
    write(&folder, &[("types.yaml", types), ("policies.yaml", "[]\n"), ("rules.yaml", rules)]);
    let folder = folder.to_str().unwrap();
    for (arguments, expected) in [
        (
            &["matrix", folder, "--role", "editor@resource"][..],
            "editor@resource has chart:read in acme",
        ),
        (
            &["matrix", folder, "--role", "nurse"],
            "nurse has chart:read in acme if relation.editor == true",
        ),
        (
            &["who-can", folder, "read", "chart:read"],
            "doctor has chart:read in acme\neverybody else has chart:read in acme if relation.editor == true",
        ),
    ] {
        let done = finish(portcullis(arguments));
        assert_eq!((done.code, &*done.out, &*done.err), (Some(0), expected, ""), "{arguments:?}");
    }
}
