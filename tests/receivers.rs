//! The receivers of `docs/webhooks.md`: each is run as it is printed, and gets real deliveries.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::everywhere::deliveries::{SECRET, attempts, register, settings, tenant, test};
use crate::support::openid::{available, skip};
use crate::support::process::{Process, repository};
use crate::support::{Receiver, Request};

/// The block of the document in this language.
fn printed(language: &str) -> String {
    let document = std::fs::read_to_string(repository().join("docs/webhooks.md")).unwrap();
    let start = format!("```{language}\n");
    let blocks: Vec<_> = document.split(&start).skip(1).collect();
    assert_eq!(blocks.len(), 1, "one receiver in {language}");
    blocks[0].split("```").next().unwrap().to_owned()
}

/// The events that a receiver has printed.
fn events(receiver: &Process) -> Vec<String> {
    let lines = receiver.out.lines();
    lines.iter().filter_map(|line| line.strip_prefix("event ").map(str::to_owned)).collect()
}

fn check(program: &str, language: &str, file: &str) {
    if !available(program) {
        return skip(&format!("the receiver in {language} needs `{program}`"));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(file);
    std::fs::write(&path, printed(language)).unwrap();
    let mut command = Command::new(program);
    command.arg(&path).env("SECRET", SECRET).env("PORT", "0").stdin(Stdio::null());
    let process = Process::spawn(command);
    let port = process.out.wait_for(|lines| {
        lines.iter().find_map(|line| line.strip_prefix("listening on ")?.parse::<u16>().ok())
    });
    let port = port.unwrap_or_else(|| panic!("it does not start: {}", process.err.text()));
    receives(&process, port);
}

/// Asserts that a running receiver does what the document says that it does.
fn receives(process: &Process, port: u16) {
    let server = settings().start();
    let tenant = tenant(&server);
    let url = format!("http://127.0.0.1:{port}/hook");
    let webhook = register(&tenant, &url, &["policy.rbac.changed"]);
    let id = test(&tenant, &webhook);
    for number in 0..5 {
        tenant.rule(&format!("user-\u{fc}-{number}"), "doc:read", "read", "allow");
    }
    let all = attempts(&tenant, &webhook, |all| all.len() == 6);
    assert!(all.iter().all(|one| one["http_status"] == 204), "{all:?}");
    let printed = events(process);
    assert_eq!(printed[0], format!("webhook.test {id}"));
    assert_eq!(printed.len(), 6, "{printed:?}");
    // The same event again is accepted, and not processed again.
    let delivery = all[5]["delivery_id"].as_str().expect("an id");
    let again = format!("POST {webhook}/deliveries/{delivery}/redeliver");
    tenant.send(&tenant.managing(again)).is(202);
    let all = attempts(&tenant, &webhook, |all| all.len() == 7);
    assert_eq!(all[0]["http_status"], 204);
    // What is not signed with the secret is refused.
    let other = json!({"secret": "a-secret-that-it-does-not-know"});
    tenant.manage(format!("PUT {webhook}"), &other).is(200);
    test(&tenant, &webhook);
    let all = attempts(&tenant, &webhook, |all| all.len() >= 8);
    assert!(all.iter().take(all.len() - 7).all(|one| one["http_status"] == 400), "{all:?}");
    let address = ([127, 0, 0, 1], port).into();
    for signature in ["", "00", "zz", "\u{7e}"] {
        let forged = Request::new("POST /hook").header("x-authz-signature", signature);
        assert_eq!(forged.json(&json!({"id": "1", "type": "x"})).send(address).status, 400);
    }
    let bare = Request::new("POST /hook").json(&json!({"id": "1", "type": "x"}));
    assert_eq!(bare.send(address).status, 400);
    assert_eq!(events(process).len(), 6);
}

#[test]
fn the_one_in_python_receives() {
    check("python3", "python", "receiver.py");
}

#[test]
fn the_one_in_node_receives() {
    check("node", "js", "receiver.mjs");
}

#[test]
fn the_one_in_java_receives() {
    check("java", "java", "Receiver.java");
}

/// The document's HTTP example is what is sent.
#[test]
fn the_headers_are_those_that_the_document_shows() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    test(&tenant, &webhook);
    let delivery = receiver.wait_for(1).remove(0);
    for name in printed("http").lines().filter_map(|line| Some(line.split_once(": ")?.0)) {
        if !name.contains('"') {
            assert!(!delivery.header(&name.to_ascii_lowercase()).is_empty(), "{name}");
        }
    }
    assert!(delivery.body.starts_with(br#"{"id":""#), "as the receiver in Java expects it");
}
