//! `portcullis dev DIR`: the files of a folder are what is served.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Dev, checks_on_a_screen, command, paste};
use crate::support::Request;
use crate::support::process::{finish, portcullis, repository};
use crate::support::tenant::Decision;

/// Writes the first folder of `portcullis init`.
#[track_caller]
pub(super) fn init(folder: &Path) {
    let mut command = portcullis(&["init"]);
    command.arg(folder);
    let done = finish(command);
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// A folder of `portcullis init` with the id `acme`, beside an empty data directory.
pub(super) fn world() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("acme");
    init(&folder);
    (directory, folder)
}

/// The command that serves a folder.
fn serving(directory: &TempDir, folder: &Path) -> Command {
    let mut command = command(&directory.path().join("data"), "127.0.0.1:0");
    command.arg(folder);
    command
}

#[track_caller]
fn edit(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "`{from}` in {text}");
    std::fs::write(file, text.replacen(from, to, 1)).unwrap();
}

impl Dev {
    /// Waits for a printed line that contains `part`, after the first `seen` lines. Returns the number of lines up to it.
    #[track_caller]
    pub(super) fn printed(&self, seen: usize, part: &str) -> usize {
        let find = |lines: &[String]| {
            let at = lines.iter().skip(seen).position(|line| line.contains(part))?;
            Some(seen + at + 1)
        };
        let found = self.process.out.wait_for(find);
        found.unwrap_or_else(|| panic!("no `{part}` in\n{}", self.process.out.text()))
    }

    /// Returns the decision on a check of `alice`, who asks.
    fn decides(&self, subject: &str, verb: &str, attributes: &Value) -> Decision {
        let check = json!({"subject": subject, "resource": format!("document:{verb}"), "action": verb,
            "attributes": {"resource": attributes}});
        let request = Request::new("POST /api/v1/check").token(self.token("alice")).json(&check);
        Decision::new(&request.send(self.address))
    }

    /// Returns the names of the stored policies.
    fn policies(&self) -> Vec<String> {
        let list = self.get("/api/v1/abac/policies", self.token("manager")).is(200).json();
        let names = list.as_array().unwrap().iter().map(|policy| policy["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }
}

#[test]
fn the_banner_says_what_may_be_mistaken_in_a_denial() {
    let (directory, folder) = world();
    let first = "- name: a suspended account";
    let typo = "- name: \"demo: nobody may wirte\"\n  as: bob\n  check: {subject: bob, resource: document:wirte}\n  \
        expect: {decision: deny}\n\n";
    edit(&folder.join("cases.yaml"), first, &format!("{typo}{first}"));
    let dev = Dev::new(serving(&directory, &folder));
    let at = dev.welcome.iter().position(|line| line == "# deny: nobody may wirte");
    let at = at.unwrap_or_else(|| panic!("{:#?}", dev.welcome));
    let hint =
        "# hint no rule and no policy names `document:wirte`; did you mean `document:write`?";
    assert_eq!(dev.welcome[at + 1], hint);
    let (decision, command) = &checks_on_a_screen(&dev.welcome)[0];
    let answer: Value = serde_json::from_str(&paste(command)).unwrap();
    assert_eq!(answer["decision"], **decision, "{command}");
}

#[test]
fn a_change_of_a_file_is_served_and_printed() {
    let (directory, folder) = world();
    let dev = Dev::new(serving(&directory, &folder));
    assert_eq!(dev.decides("alice", "write", &json!({})).decision, "allow");

    // The policy of owners has the priority 10.
    edit(&folder.join("policies.yaml"), "priority: 100", "priority: 5");
    let seen = dev.printed(0, "reloaded `acme`: 1 changed; 7 of 8 cases pass");
    let seen = dev.printed(seen, "  ~ policy `locked`");
    let seen = dev.printed(seen, "  FAILED  demo: nobody may write a locked document");
    let seen = dev.printed(seen, "          expected  deny by `locked`");
    let locked = json!({"owner": "alice", "locked": true});
    assert_eq!(dev.decides("alice", "write", &locked).decision, "allow");

    edit(&folder.join("policies.yaml"), "priority: 5", "priority: 100");
    let seen = dev.printed(seen, "reloaded `acme`: 1 changed; all 8 cases pass");
    assert_eq!(dev.decides("alice", "write", &locked).decision, "deny");
    // The rule of a default role, the registration that made it, and a user.
    edit(&folder.join("resources.yaml"), "[editor, viewer]", "[editor, viewer, guest]");
    let seen = dev.printed(seen, "  ~ resource `document:read`");
    let seen = dev.printed(seen, "  + rule `guest, acme, document:read, read`");
    edit(&folder.join("tenant.yaml"), "roles: [viewer]", "roles: [viewer, guest]");
    dev.printed(seen, "  ~ user `bob`");
    let token = format!("curl -s 'http://{}/dev/token?user=bob'", dev.address);
    let check = json!({"resource": "document:read"});
    let request = Request::new("POST /api/v1/resources/access/check").token(paste(&token).trim());
    assert_eq!(request.json(&check).send(dev.address).is(200).text_of("decision"), "allow");
    dev.stop();
}

#[test]
fn a_faulty_file_keeps_the_last_good_state_until_it_is_mended() {
    let (directory, folder) = world();
    let dev = Dev::new(serving(&directory, &folder));
    let file = folder.join("policies.yaml");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, good.replace("== true", "is true")).unwrap();
    let seen = dev.printed(0, "not reloaded, the state before is served: ");
    assert!(dev.process.out.lines()[seen - 1].contains("policies.yaml"), "the file is named");
    let locked = json!({"locked": true});
    assert_eq!(dev.decides("alice", "write", &locked).decision, "deny");

    // The mended file has one policy less.
    let (rest, _) = good.split_once("- name: owner").unwrap();
    edit(
        &folder.join("cases.yaml"),
        "- name: the owner needs no role",
        "- name: the owner has no right",
    );
    std::fs::write(&file, rest).unwrap();
    let cases = std::fs::read_to_string(folder.join("cases.yaml")).unwrap();
    let cases = cases.replace("decision: allow, rule: owner", "decision: deny, rule: default-deny");
    std::fs::write(folder.join("cases.yaml"), cases).unwrap();
    let seen = dev.printed(seen, "reloaded `acme`: 1 removed; all 8 cases pass");
    dev.printed(seen, "  - policy `owner`");
    assert_eq!(dev.policies(), ["locked"]);
    let owned = json!({"owner": "mallory"});
    assert_eq!(dev.decides("mallory", "write", &owned).decision, "deny");
}

/// Types with a first hop that a request may send, and a document in the folder that Alice may view.
const SHARED: [(&str, &str); 3] = [
    (
        "types.yaml",
        "- type: folder\n  relations: {viewer: \"[user]\"}\n\
         - type: document\n  relations:\n    parent: {from: \"[folder]\", request: parent}\n    viewer: parent.viewer\n  \
         properties: {owner: {type: text}, locked: {type: boolean}}\n",
    ),
    (
        "relations.yaml",
        "- {object: \"document:d1\", relation: parent, subject: \"folder:open\"}\n\
         - {object: \"folder:open\", relation: viewer, subject: \"user:alice\"}\n",
    ),
    ("rules.yaml", "- {sub: viewer@resource, obj: \"document:look\", act: look, effect: allow}\n"),
];

#[test]
fn settings_of_the_folder_are_served() {
    let (directory, folder) = world();
    for (file, text) in SHARED {
        std::fs::write(folder.join(file), text).unwrap();
    }
    std::fs::write(folder.join("cases.yaml"), "[]\n").unwrap();
    let dev = Dev::new(serving(&directory, &folder));
    let moved = json!({"id": "d1", "parent": "folder:other"});
    assert_eq!(dev.decides("alice", "look", &moved).decision, "allow", "the directory goes first");

    std::fs::remove_file(folder.join("settings.yaml")).unwrap();
    let seen = dev.printed(0, "  ~ setting `directory_wins`");
    assert_eq!(dev.decides("alice", "look", &moved).decision, "deny", "the request goes first");

    std::fs::write(folder.join("settings.yaml"), "directory_wins: true\n").unwrap();
    dev.printed(seen, "  ~ setting `directory_wins`");
    assert_eq!(dev.decides("alice", "look", &moved).decision, "allow");
}

#[test]
fn the_folder_wins_over_what_the_data_directory_has() {
    let (directory, folder) = world();
    let first = Dev::new(serving(&directory, &folder));
    let extra = json!({"name": "extra", "resource": "*", "effect": "deny", "priority": 9, "rule_data":
        {"type": "CONDITION", "attribute": "request.subject", "operator": "exists"}});
    let request = Request::new("POST /api/v1/abac/policies").token(first.token("manager"));
    request.json(&extra).send(first.address).is(201);
    let hook = json!({"url": "http://127.0.0.1:9/hook", "events": ["policy.abac.created"],
        "secret": "a secret that is long enough for a webhook"});
    let request = Request::new("POST /api/v1/webhooks").token(first.token("manager"));
    let hook = request.json(&hook).send(first.address).is(201).id();
    first.stop();
    edit(&folder.join("policies.yaml"), "- name: owner", "- name: proprietor");
    let cases = std::fs::read_to_string(folder.join("cases.yaml")).unwrap();
    std::fs::write(folder.join("cases.yaml"), cases.replace("rule: owner", "rule: proprietor"))
        .unwrap();

    let second = Dev::new(serving(&directory, &folder));
    assert_eq!(second.policies(), ["locked", "proprietor"]);
    let hooks = second.get("/api/v1/webhooks", second.token("manager")).is(200).text;
    assert!(hooks.contains(&hook), "what no file describes stays: {hooks}");
}

#[test]
fn tenants_come_and_go_with_their_folders() {
    let (directory, _) = world();
    let tenants = directory.path().join("tenants");
    init(&tenants.join("beta"));
    let dev = Dev::new(serving(&directory, &tenants));
    assert!(dev.welcome.iter().any(|line| line.starts_with("Tenant `beta`")), "{:#?}", dev.welcome);
    let alice = dev.token("alice").to_owned();
    let check = json!({"subject": "alice", "resource": "document:read", "action": "read"});
    let decide = |token: &str| {
        let request = Request::new("POST /api/v1/check").token(token).json(&check);
        Decision::new(&request.send(dev.address)).decision
    };
    assert_eq!(decide(&alice), "allow");

    init(&tenants.join("gamma"));
    let seen = dev.printed(0, "reloaded `gamma`: ");
    let reply = Request::new("GET /dev/token?user=alice").send(dev.address).is(400);
    assert!(reply.text.contains("alice@beta, alice@gamma"), "{}", reply.text);
    let token = Request::new("GET /dev/token?user=alice%40gamma").send(dev.address).is(200).text;
    assert_eq!(decide(token.trim()), "allow");

    std::fs::remove_dir_all(tenants.join("beta")).unwrap();
    let seen = dev.printed(seen, "`beta` is not served any more");
    assert_eq!(decide(&alice), "deny", "a token that is still valid finds no rules");
    assert_eq!(decide(token.trim()), "allow");

    init(&tenants.join("beta"));
    let seen = dev.printed(seen, "reloaded `beta`: ");
    assert_eq!(decide(&alice), "allow");
    edit(&tenants.join("beta/policies.yaml"), "priority: 10\n", "priority: 11\n");
    dev.printed(seen, "  ~ policy `owner`");
}

#[test]
fn a_folder_that_cannot_be_served_is_named_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (folder, expected) in
        [(&*empty, "portcullis init"), (Path::new("/missing"), "cannot be read")]
    {
        let done = finish(serving(&directory, folder));
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(
            done.err.contains(expected) && done.err.contains(folder.to_str().unwrap()),
            "{done:?}"
        );
    }
    for name in ["one", "two"] {
        let folder = directory.path().join("twins").join(name);
        init(&folder);
        edit(&folder.join("tenant.yaml"), &format!("tenant: {name}"), "tenant: same");
        std::fs::write(folder.join("cases.yaml"), "[]\n").unwrap();
    }
    let done = finish(serving(&directory, &directory.path().join("twins")));
    assert!(done.err.contains("are the same tenant `same`"), "{done:?}");
    assert!(!directory.path().join("data").exists(), "a refused start leaves nothing behind");
}

/// Copies the files of a folder, without what builds wrote.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

#[test]
fn the_resolvers_of_a_folder_are_installed_and_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let policies = directory.path().join("policies");
    for folder in ["hospital", "software-shop", "resolvers"] {
        copy(&repository().join("policies").join(folder), &policies.join(folder));
    }
    let dev = Dev::new(serving(&directory, &policies));
    assert_eq!(checks_on_a_screen(&dev.welcome).len(), 3);
    for (answer, line) in dev.demos() {
        assert_eq!(paste(&line), answer);
    }
    let namespaces = |dev: &Dev| {
        let list = dev.get("/api/v1/resolvers", dev.token("ines-admin")).is(200).json();
        let all = list.as_array().unwrap().iter();
        all.map(|one| (one["namespace"].clone(), one["description"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(namespaces(&dev).len(), 2);
    edit(&policies.join("hospital/resolvers.yaml"), "when visitors may", "when people may");
    dev.printed(0, "  ~ resolver `hours`");
    let about = json!("when people may announce themselves");
    assert!(namespaces(&dev).contains(&(json!("hours"), about)), "{:?}", namespaces(&dev));
}
