//! `portcullis resolver`: from an empty folder to a running service, and the sample resolvers.

#[path = "resolver_cli/languages.rs"]
mod languages;
#[path = "resolver_cli/samples.rs"]
mod samples;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::dev::Dev;
use crate::support::Request;
use crate::support::process::{Finished, portcullis};
use crate::support::tenant::Decision;

/// Runs `portcullis resolver` with the variables that cargo needs. There is no time limit, because it may build.
fn resolver(arguments: &[&str], folder: &Path) -> Finished {
    finished(&mut resolver_command(arguments, folder))
}

fn resolver_command(arguments: &[&str], folder: &Path) -> Command {
    let mut command = portcullis(&["resolver"]);
    with_cargo(command.args(arguments).current_dir(folder));
    command
}

/// Gives a command only the variables that cargo needs.
fn with_cargo(command: &mut Command) {
    command.env_clear();
    for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // The runs share their built dependencies.
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("resolvers"));
}

fn finished(command: &mut Command) -> Finished {
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Finished { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[track_caller]
fn succeeds(done: &Finished) -> &str {
    assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
    &done.out
}

/// Creates a crate outside of the repository.
fn new_crate(name: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    succeeds(&resolver(&["new", name], directory.path()));
    let folder = directory.path().join(name);
    (directory, folder)
}

#[test]
fn a_new_crate_builds_passes_its_tests_and_goes_into_service() {
    let (_directory, folder) = new_crate("trust-level");
    let mut tests = Command::new("cargo");
    with_cargo(tests.args(["test", "--quiet"]).current_dir(&folder));
    let native = finished(&mut tests);
    assert!(succeeds(&native).contains("3 passed"), "{native:?}");

    let built = resolver(&["build"], &folder);
    assert!(succeeds(&built).contains("portcullis:resolver/config@1.0.0"), "{}", built.out);
    assert!(built.err.contains("cargo build --release --target wasm32-wasip2"), "{}", built.err);
    let inspected = resolver(&["inspect", "--json"], &folder);
    let about: Value = serde_json::from_str(succeeds(&inspected)).expect("JSON");
    assert_eq!((&about["name"], &about["inputs"]), (&json!("trust-level"), &json!(["subject"])));
    let level = json!({"name": "level", "kind": "number", "default_ttl_ms": 60_000});
    assert_eq!(about["attributes"], json!([level]));
    assert_eq!(about["sha256"].as_str().map(str::len), Some(64));
    let shown = resolver(&["inspect", "trust-level.wasm"], &folder);
    assert!(
        succeeds(&shown).contains("attributes  level: number, cached for 60 s"),
        "{}",
        shown.out
    );

    let tested = resolver(&["test"], &folder);
    let told = succeeds(&tested);
    for part in [
        "level  3, cached for 60 s",
        "level  absent",
        "debug: nothing is known",
        "of memory at most",
    ] {
        assert!(told.contains(part), "`{part}` in {told}");
    }
    assert!(told.ends_with("\n2 passed, 0 failed\n"), "{told}");
    let measured = resolver(&["bench", "--calls", "20"], &folder);
    for part in ["compile", "load", "p50", "p99", "max", "per second", "memory"] {
        assert!(succeeds(&measured).contains(part), "`{part}` in {}", measured.out);
    }
    pushed_and_asked(&folder);
}

/// Pushes a built crate twice, with a policy that reads its attribute.
fn pushed_and_asked(folder: &Path) {
    let (dev, _data) = Dev::fresh();
    let (boss, developer) = (dev.token("olga-admin"), dev.token("dev-amara"));
    let push = |token: &str| {
        let url = format!("http://{}", dev.address);
        let mut command = resolver_command(&["push", "--url", &url], folder);
        command.env("TOKEN", token);
        finished(&mut command)
    };
    let first = push(boss);
    assert!(succeeds(&first).starts_with("installed `trust_level`: "), "{}", first.out);
    assert!(first.out.contains("\n  trust_level.level  number\n"), "{}", first.out);

    let policy = json!({"name": "trusted", "resource": "vault:open", "effect": "allow", "priority": 1, "rule_data":
        {"type": "CONDITION", "attribute": "trust_level.level", "operator": "gte", "value": 3}});
    Request::new("POST /api/v1/abac/policies").token(boss).json(&policy).send(dev.address).is(201);
    let decides = |subject: &str| {
        let check = json!({"subject": subject, "resource": "vault:open", "action": "open"});
        let request = Request::new("POST /api/v1/check").token(developer).json(&check);
        Decision::new(&request.send(dev.address)).decision
    };
    assert_eq!((&*decides("ann"), &*decides("bob")), ("allow", "deny"));

    edit(&folder.join("manifest.json"), "bob=1", "bob=3");
    let second = push(boss);
    assert!(succeeds(&second).starts_with("replaced `trust_level`: "), "{}", second.out);
    assert_eq!(
        first.out.split([':', ',']).nth(1),
        second.out.split([':', ',']).nth(1),
        "its id stays"
    );
    assert_eq!((&*decides("ann"), &*decides("bob")), ("allow", "allow"));

    edit(&folder.join("manifest.json"), "levels", "heights");
    let refused = push(boss);
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    for part in ["400 Bad Request", "/manifest/config", "`levels`"] {
        assert!(refused.err.contains(part), "`{part}` in {}", refused.err);
    }
    let not_allowed = push(developer);
    assert_eq!(not_allowed.code, Some(1));
    assert!(not_allowed.err.contains("403 Forbidden"), "{}", not_allowed.err);
    assert!(!not_allowed.err.contains(developer), "no token is shown");
}

/// Replaces `from` in a file. Panics if the file does not contain it.
#[track_caller]
fn edit(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{} has no `{from}`", file.display());
    std::fs::write(file, text.replace(from, to)).unwrap();
}

#[test]
fn names_that_make_no_crate_and_folders_that_are_there_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for name in
        ["", "Geo", "9geo", "geo ip", "geo_ip", "../geo", "geo-", "user", "token", "std", "sdk"]
    {
        let done = resolver(&["new", "--", name], directory.path());
        assert_eq!(done.code, Some(2), "`{name}`: {done:?}");
    }
    std::fs::create_dir(directory.path().join("geo")).unwrap();
    let done = resolver(&["new", "geo"], directory.path());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("`geo` already exists"), "{done:?}");
    let other = resolver(&["new", "geo", "--path", "deeper/folder"], directory.path());
    assert!(succeeds(&other).contains("cd deeper/folder"), "{}", other.out);
    let manifest = directory.path().join("deeper/folder/manifest.json");
    assert!(std::fs::read_to_string(manifest).unwrap().contains(r#""namespace": "geo""#));
}

#[test]
fn what_the_service_would_refuse_is_refused_with_its_words() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("files.wasm");
    std::fs::write(&file, portcullis_test_guests::component("files").unwrap()).unwrap();
    let done = resolver(&["inspect", "files.wasm"], directory.path());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.err.contains("imports what resolvers are not offered: `wasi:filesystem/"),
        "{done:?}"
    );
    std::fs::write(&file, b"nonsense").unwrap();
    let done = resolver(&["inspect", "."], directory.path());
    assert!(done.code == Some(1) && done.err.contains("files.wasm: not a component"), "{done:?}");
    std::fs::write(directory.path().join("other.wasm"), b"nonsense").unwrap();
    let done = resolver(&["inspect"], directory.path());
    assert!(done.err.contains("has 2 components; give the path of one component"), "{done:?}");
    let done = resolver(&["inspect", "missing.wasm"], directory.path());
    assert!(
        done.code == Some(1)
            && done.err.contains("`missing.wasm` does not exist: expected a component"),
        "{done:?}"
    );
}

#[test]
fn a_missing_target_is_named_and_installed_by_rustup_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, folder) = new_crate("geo");
    let programs = tempfile::tempdir().unwrap();
    let program = |name: &str, script: &str| {
        let file = programs.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let build = || {
        let mut command = resolver_command(&["build"], &folder);
        finished(command.env("PATH", programs.path()))
    };
    let done = build();
    assert!(done.code == Some(1) && done.err.contains("cannot run `rustc`"), "{done:?}");
    program("rustc", "echo /nowhere");
    let done = build();
    let command = "`rustup target add wasm32-wasip2`";
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains(&format!("with rustup, {command} installs it")), "{}", done.err);
    program("rustup", "exit 3");
    let done = build();
    assert!(
        done.err.contains("is missing, running: rustup target add wasm32-wasip2"),
        "{}",
        done.err
    );
    assert!(done.err.contains(&format!("{command} failed")), "{}", done.err);
    // With the target installed, the build continues with cargo.
    program("rustup", "exit 0");
    assert!(build().err.contains("cannot run `cargo`"));
}
