//! From an empty folder to decisions on the command line: `init`, `test`, `dev`, `check`.

use std::net::TcpListener;

use serde_json::Value;

use super::folder::world;
use super::{Dev, checks_on_a_screen, command, paste};
use crate::support::process::{Finished, finish, portcullis};

/// Runs `portcullis check` with these arguments.
fn check(arguments: &[&str]) -> Finished {
    let mut command = portcullis(&["check"]);
    command.args(arguments);
    finish(command)
}

#[test]
fn a_first_folder_passes_its_cases_is_served_and_answers_checks() {
    let (directory, folder) = world();
    let mut test = portcullis(&["test"]);
    test.arg(&folder);
    let done = finish(test);
    assert_eq!(done.code, Some(0), "{done:?}");
    let again = {
        let mut command = portcullis(&["init"]);
        command.arg(&folder);
        finish(command)
    };
    assert!(again.code == Some(1) && again.err.contains("nothing is written"), "{again:?}");

    let mut serve = command(&directory.path().join("data"), "127.0.0.1:0");
    serve.arg(&folder);
    let dev = Dev::new(serve);
    let checks = checks_on_a_screen(&dev.welcome);
    assert_eq!(checks.len(), 3, "{:#?}", dev.welcome);
    for (decision, command) in checks {
        let answer: Value = serde_json::from_str(&paste(&command)).unwrap();
        assert_eq!(answer["decision"], decision, "{command}");
    }

    let (url, dir) = (format!("http://{}", dev.address), folder.to_str().unwrap());
    let (alice, manager) = (dev.token("alice"), dev.token("manager"));
    let asked = |more: &[&str]| check(&[&["--url", &url][..], more].concat());
    let write = ["alice", "write", "document:write"];
    // The service and the folder decide the same.
    for (attributes, code, decision) in [
        (&[][..], 0, "decision  allow\n"),
        (&["--attr", "resource.locked=true"][..], 3, "decision  deny\n"),
    ] {
        let call = [&write[..], attributes].concat();
        let served = asked(&[&call[..], &["--token", alice]].concat());
        let in_folder = check(&[&call[..], &["--dir", dir]].concat());
        for done in [served, in_folder] {
            assert_eq!(done.code, Some(code), "{done:?}");
            assert!(format!("{}\n", done.out).starts_with(decision), "{done:?}");
        }
    }
    let explained = asked(&[
        "bob",
        "write",
        "document:write",
        "--role",
        "editor",
        "--token",
        manager,
        "--explain",
    ]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
    assert!(
        explained.out.contains("allow `editor, acme, document:write, write`; it decides"),
        "{explained:?}"
    );
    let json = asked(&["bob", "read", "document:read", "--token", manager, "--json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["decision"], "deny");
    assert!(json["revision"].as_u64().is_some(), "{json}");
    let mut command = portcullis(&["check", "--url", &url]);
    command.args(write).env("TOKEN", alice);
    assert_eq!(finish(command).code, Some(0), "the token may come from the environment");
}

#[test]
fn a_first_folder_with_types_and_domains_passes_every_command_and_is_served() {
    let directory = tempfile::tempdir().unwrap();
    let types = ["--resource", "document:read,write", "--resource", "invoice:pay"];
    let domains = ["--domains", "north,south"];
    for (name, flags) in [
        ("one", &[][..]),
        ("types", &types),
        ("domains", &domains),
        ("both", &[types[0], types[1], types[2], types[3], domains[0], domains[1]]),
    ] {
        for (call, expected) in [
            (&[&["init", name][..], flags].concat()[..], "    portcullis check --dir "),
            (&["check", "--dir", name, "alice", "write", "document:write"], "decision  allow"),
            (&["test", name], " passed, 0 failed"),
            (&["lint", "--deny-warnings", name], "0 errors, 0 warnings, 0 notes"),
            (&["fmt", "--check", name], ""),
        ] {
            let mut command = portcullis(call);
            command.current_dir(directory.path());
            let done = finish(command);
            assert_eq!((done.code, &*done.err), (Some(0), ""), "{name} {call:?}: {done:?}");
            assert!(done.out.contains(expected), "{name} {call:?}: {done:?}");
        }
    }
    // The only tenant that is served leaves its domains to the checks.
    let mut serve = command(&directory.path().join("data"), "127.0.0.1:0");
    serve.arg(directory.path().join("both"));
    let dev = Dev::new(serve);
    let checks = checks_on_a_screen(&dev.welcome);
    assert_eq!(checks.len(), 3, "{:#?}", dev.welcome);
    for (decision, command) in checks {
        assert!(command.contains("\"domain\":\"north\""), "{command}");
        let answer: Value = serde_json::from_str(&paste(&command)).unwrap();
        assert_eq!(answer["decision"], decision, "{command}");
    }
    let file = directory.path().join("both/tenant.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("tenant: both", "tenant: other")).unwrap();
    dev.printed(0, "not reloaded, the state before is served: ");
    dev.printed(0, "has the tenant `other` now: start `portcullis dev` again to serve it");
}

#[test]
fn a_check_without_a_decision_says_why() {
    let (dev, _directory) = Dev::fresh();
    let url = format!("http://{}", dev.address);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let docs = format!("{url}/docs");
    let token = dev.token("nurse-lind");
    let asked = ["nurse-lind", "read", "chart:read"];
    for (arguments, code, expected) in [
        (
            vec!["--url", &closed, "--token", "x"],
            1,
            "gives no answer; is the service running there?",
        ),
        (vec!["--url", &url, "--token", "x"], 1, "401 Unauthorized: "),
        (vec!["--url", &url, "--key", "x"], 1, "refuses the check with 40"),
        (vec!["--url", &docs, "--token", token], 1, "404 Not Found: "),
        (vec!["--url", &url, "--token", token, "--explain"], 1, "403 Forbidden: "),
        (vec!["--url", "ftp://x", "--token", "x"], 2, "expected an http or https URL"),
        (vec!["--url", &url], 2, "check: expected a token in --token or TOKEN"),
        (vec!["--url", &url, "--token", "a\nb"], 2, "--token: expected "),
        (vec!["--url", &url, "--token", "x", "--dir", "."], 2, "cannot be used with"),
    ] {
        let done = check(&[&asked[..], &arguments].concat());
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {done:?}");
        assert_eq!(done.out, "");
    }
}
