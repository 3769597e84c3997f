//! An AuthZEN client that is not ours asks `portcullis dev` for the decisions of the todo scenario.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Dev, command};
use crate::support::packages::from_pypi;
use crate::support::process::{finish, repository};

/// The people of the scenario, their roles, and whether each creates todos and changes those of others.
const PEOPLE: [(&str, &[&str], bool, bool); 5] = [
    ("rick@the-citadel.com", &["admin", "evil_genius"], true, true),
    ("morty@the-citadel.com", &["editor"], true, false),
    ("summer@the-smiths.com", &["editor"], true, false),
    ("beth@the-smiths.com", &["viewer"], false, false),
    ("jerry@the-smiths.com", &["viewer"], false, false),
];

/// Returns each question of the scenario, and its decision.
fn questions() -> Vec<(Value, bool)> {
    let mut all = Vec::new();
    for (id, roles, creates, changes_all) in PEOPLE {
        let mut ask = |action: &str, resource: Value, allowed: bool| {
            let subject = json!({"type": "user", "id": id, "properties": {"roles": roles}});
            let question = json!({"subject": subject, "action": action, "resource": resource});
            all.push((question, allowed));
        };
        let todo =
            |owner: &str| json!({"type": "todo", "id": "todo-1", "properties": {"ownerID": owner}});
        ask("can_read_user", json!({"type": "user", "id": "beth@the-smiths.com"}), true);
        ask("can_read_todos", json!({"type": "todo", "id": "todo-1"}), true);
        ask("can_create_todo", json!({"type": "todo", "id": "todo-1"}), creates);
        for action in ["can_update_todo", "can_delete_todo"] {
            ask(action, todo(id), creates);
            ask(action, todo("somebody@else.example"), changes_all);
        }
    }
    all
}

#[test]
fn a_client_of_the_standard_gets_the_decisions_of_the_scenario() {
    let source = "tests/authzen-client";
    let Some(folder) = from_pypi("authzen-client", source) else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut dev = command(directory.path(), "127.0.0.1:0");
    dev.arg(repository().join("policies/todo"));
    let dev = Dev::new(dev);
    let (asked, expected): (Vec<Value>, Vec<bool>) = questions().into_iter().unzip();
    let file = directory.path().join("questions.json");
    std::fs::write(&file, json!(asked).to_string()).unwrap();
    let mut client = Command::new(folder.join("venv/bin/python"));
    client.arg(repository().join(source).join("ask.py")).arg(&file).stdin(Stdio::null());
    client.env("PORTCULLIS_URL", format!("http://{}", dev.address));
    client.env("TOKEN", dev.token("todo-app"));
    let ended = finish(client);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(
        lines,
        [json!(expected).to_string().replace(',', ", "), "401".to_owned()],
        "{}",
        ended.err
    );
    dev.stop();
}
