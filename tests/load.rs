//! `portcullis import relations` and `import entities`: files of records, one in a line, into a running service.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Tenant;
use crate::support::process::{Finished, finish, portcullis};

fn tenant() -> Tenant<'static> {
    let tenant = Tenant::new();
    let group = json!({"relations": {"member": "[user]"}});
    let document = json!({"relations": {"viewer": "[user, user:*, group#member]"}});
    for (name, declared) in [("group", group), ("doc", document)] {
        tenant.manage(format!("PUT /api/v1/types/{name}"), &declared).is(201);
    }
    tenant
}

fn file(folder: &TempDir, text: &str) -> PathBuf {
    let file = folder.path().join("records.txt");
    fs::write(&file, text).expect("writes");
    file
}

/// Loads a file, with the token of a manager.
fn load(tenant: &Tenant<'_>, kind: &str, file: &Path, more: &[&str]) -> Finished {
    let mut command = portcullis(&["import", kind]);
    command.arg(file).args(["--url", &format!("http://{}", tenant.address)]).args(more);
    command.env("TOKEN", tenant.token("manager", &["admin"]));
    finish(command)
}

fn listed(tenant: &Tenant<'_>, list: &str) -> Vec<Value> {
    let all = tenant.get(&format!("/api/v1/{list}")).is(200).json();
    all.as_array().expect("a list").clone()
}

#[test]
fn tuples_are_written_and_synced() {
    let (tenant, folder) = (tenant(), tempfile::tempdir().expect("a folder"));
    let lines = "doc:plan#viewer@user:ann\n\n\
        {\"object\": \"doc:plan\", \"relation\": \"viewer\", \"subject\": \"user:guest\", \"expires_at\": \"2099-01-01T00:00:00Z\"}\n\
        doc:plan#viewer@group:eng#member\n";
    let file = file(&folder, lines);
    let dry = load(&tenant, "relations", &file, &["--source", "hr", "--dry-run"]);
    assert_eq!((dry.code, &*dry.out), (Some(0), "relations: 3 written, 0 unchanged, 0 deleted"));
    assert_eq!(listed(&tenant, "relations"), Vec::<Value>::new());
    let written = load(&tenant, "relations", &file, &["--source", "hr"]);
    assert_eq!(written.out, "relations: 3 written, 0 unchanged, 0 deleted", "{}", written.err);
    let again = load(&tenant, "relations", &file, &["--source", "hr"]);
    assert_eq!(again.out, "relations: 0 written, 3 unchanged, 0 deleted", "{}", again.err);
    // A sync deletes what the file has no more, and a dry run counts it.
    fs::write(&file, "doc:plan#viewer@user:ann\ndoc:plan#viewer@user:bob\n").expect("writes");
    let sync = ["--source", "hr", "--sync"];
    let dry = load(&tenant, "relations", &file, &[&sync[..], &["--dry-run"]].concat());
    assert_eq!(dry.out, "relations: 1 written, 1 unchanged, 2 deleted", "{}", dry.err);
    let refused = load(&tenant, "relations", &file, &sync);
    assert!(refused.code == Some(1) && refused.err.contains("2 of 3 tuples"), "{}", refused.err);
    assert!(refused.err.contains("--allow-deletes lifts the limit"), "{}", refused.err);
    let synced = load(&tenant, "relations", &file, &[&sync[..], &["--allow-deletes"]].concat());
    assert_eq!(synced.out, "relations: 1 written, 1 unchanged, 2 deleted", "{}", synced.err);
    assert_eq!(listed(&tenant, "relations").len(), 2);
    assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 1, "no progress is left");
}

#[test]
fn entities_are_written_and_synced() {
    let (tenant, folder) = (tenant(), tempfile::tempdir().expect("a folder"));
    let entity = |id: &str, ward: &str| {
        format!(
            "{{\"type\": \"user\", \"id\": \"{id}\", \"properties\": {{\"ward\": \"{ward}\"}}}}\n"
        )
    };
    let file = file(&folder, &(entity("ann", "er") + &entity("bob", "er")));
    for (more, expected) in [
        (&["--dry-run"][..], "entities: 2 written, 0 unchanged, 0 deleted"),
        (&["--source", "hr", "--sync"], "entities: 2 written, 0 unchanged, 0 deleted"),
        (&["--source", "hr", "--sync"], "entities: 0 written, 2 unchanged, 0 deleted"),
    ] {
        let loaded = load(&tenant, "entities", &file, more);
        assert_eq!((loaded.code, &*loaded.out), (Some(0), expected), "{}", loaded.err);
    }
    fs::write(&file, entity("ann", "icu")).expect("writes");
    let sync = ["--source", "hr", "--sync"];
    let dry = load(&tenant, "entities", &file, &[&sync[..], &["--dry-run"]].concat());
    assert_eq!(dry.out, "entities: 1 written, 0 unchanged, 1 deleted", "{}", dry.err);
    let synced = load(&tenant, "entities", &file, &sync);
    assert_eq!(synced.out, "entities: 1 written, 0 unchanged, 1 deleted", "{}", synced.err);
    let left = listed(&tenant, "entities");
    assert_eq!((left.len(), &left[0]["properties"]["ward"]), (1, &json!("icu")));
}

/// The parts before a wrong line are written, and the next run goes on after them.
#[test]
fn a_refused_line_is_named_and_the_load_goes_on() {
    let (tenant, folder) = (tenant(), tempfile::tempdir().expect("a folder"));
    let good: String = (0..2_000).map(|n| format!("doc:d{n}#viewer@user:u{}\n", n % 7)).collect();
    let wrong = "doc:x#viewer@user:ann\ndoc:x#editor@user:ann\n";
    let file = file(&folder, &format!("{good}{wrong}"));
    let sync = ["--source", "hr", "--sync"];
    let refused = load(&tenant, "relations", &file, &sync);
    assert_eq!((refused.code, &*refused.out), (Some(1), ""), "{}", refused.err);
    for part in [
        "the lines up to 2000 are written; run the command again",
        "expected a relation of `doc`",
        "(line 2002 of the file): ",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    let unread = load(&tenant, "relations", folder.path(), &[]);
    let named = format!("cannot read `{}`: Is a directory", folder.path().display());
    assert!(unread.err.contains(&named), "{}", unread.err);
    fs::write(&file, format!("{good}doc:x#viewer@user:ann\n")).expect("writes");
    let rest = load(&tenant, "relations", &file, &sync);
    assert_eq!(rest.out, "relations: 2001 written, 0 unchanged, 0 deleted", "{}", rest.err);
    assert!(rest.err.contains("going on after line 2000"), "{}", rest.err);
    let mended = tenant.get("/api/v1/relations?object=doc:x").is(200).json();
    assert_eq!(mended[0]["source"], "hr");
    // A sync that another one ended begins anew.
    fs::write(&file, format!("{good}{wrong}")).expect("writes");
    assert_eq!(load(&tenant, "relations", &file, &sync).code, Some(1));
    let other = json!({"source": "hr", "relations": []});
    tenant.manage("POST /api/v1/relations/sync", &other).is(200);
    fs::write(&file, format!("{good}doc:x#viewer@user:ann\n")).expect("writes");
    let ended = load(&tenant, "relations", &file, &sync);
    assert!(ended.err.contains("run the command again: it begins a new sync"), "{}", ended.err);
    let synced = load(&tenant, "relations", &file, &sync);
    assert_eq!(synced.out, "relations: 0 written, 2001 unchanged, 0 deleted", "{}", synced.err);
}

/// A note of one tenant says nothing about another one, or about a database that was replaced.
#[test]
fn a_load_begins_anew_where_the_lines_before_are_not_there() {
    let (first, other) = (tenant(), tenant());
    let folder = tempfile::tempdir().expect("a folder");
    let good: String = (0..2_000).map(|n| format!("doc:d{n}#viewer@user:ann\n")).collect();
    let file = file(&folder, &format!("{good}doc:x#editor@user:ann\n"));
    assert_eq!(load(&first, "relations", &file, &[]).code, Some(1));
    fs::write(&file, format!("{good}doc:x#viewer@user:ann\n")).expect("writes");
    let loaded = load(&other, "relations", &file, &[]);
    assert_eq!(loaded.out, "relations: 1001 written, 1000 unchanged, 0 deleted", "{}", loaded.err);
    assert_eq!(
        other.get("/api/v1/relations?object=doc:d1").is(200).json()[0]["subject"],
        "user:ann"
    );
}

#[test]
fn a_load_needs_no_place_for_its_progress() {
    let (tenant, folder) = (tenant(), tempfile::tempdir().expect("a folder"));
    let good: String = (0..1_000).map(|n| format!("doc:d{n}#viewer@user:ann\n")).collect();
    let file = file(&folder, &format!("{good}doc:x#editor@user:ann\n"));
    // No file can be written in the place of a folder.
    fs::create_dir(folder.path().join("records.txt.new")).expect("a folder");
    let refused = load(&tenant, "relations", &file, &[]);
    for part in [
        "cannot note the progress",
        "begins anew",
        "the lines up to 1000 are written; run the command again, and it leaves them unchanged",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    fs::write(&file, format!("{good}doc:x#viewer@user:ann\n")).expect("writes");
    let loaded = load(&tenant, "relations", &file, &[]);
    assert_eq!(loaded.out, "relations: 1 written, 1000 unchanged, 0 deleted", "{}", loaded.err);
}
