//! `portcullis export`, `plan`, `apply` and `drift` with a running service, and what the pipelines of `deploy/ci` do.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Tenant;
use crate::support::process::{Finished, finish, portcullis, repository};

const TREE: &str = r#"{"type": "CONDITION", "attribute": "user.ward", "operator": "ne", "value": {"attribute": "resource.ward"}}"#;
const LATE: &str = "- name: late\n  resource: chart:read\n  effect: deny\n  priority: 1\n  when: resource.late == true\n";

/// A tenant with content that was made by the API, and the folder that it is exported to.
struct Exported {
    tenant: Tenant<'static>,
    root: TempDir,
}

impl Exported {
    fn new() -> Self {
        let tenant = Tenant::new();
        let resources = json!([
            {"name": "chart:read", "displayName": "Read a chart: all of it", "defaultRoles": ["nurse", "doctor"]},
            {"name": "chart:write", "defaultRoles": []},
        ]);
        tenant.manage("POST /api/v1/resources/list", &resources).is(200);
        tenant.rule("agency", "chart:*", "*", "deny");
        let tree: Value = serde_json::from_str(TREE).unwrap();
        tenant.policy("other ward", "chart:*", "deny", 10, &tree);
        let matcher = json!({
            "name": "own", "resource": "*", "effect": "allow", "priority": 5, "format": "casbin",
            "rule_data": {"matcher": "r.sub.id == r.obj.owner"},
        });
        tenant.manage("POST /api/v1/abac/policies", &matcher).is(201);
        Self { tenant, root: tempfile::tempdir().unwrap() }
    }

    /// Exports, adopts everything, and returns the folder.
    fn applied() -> Self {
        let exported = Self::new();
        exported.export("acme").is(0);
        exported.run(&["apply", "acme"]).is(0);
        exported
    }

    fn folder(&self) -> std::path::PathBuf {
        self.root.path().join("acme")
    }

    fn export(&self, folder: &str) -> Finished {
        self.run(&["export", "--tenant", &self.tenant.name, "--tenant-folder", folder])
    }

    /// Runs a command in the folder above as the manager.
    fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = portcullis(arguments);
        self.prepare(&mut command);
        command.args(["--url", &self.url()]);
        finish(command)
    }

    fn url(&self) -> String {
        format!("http://{}", self.tenant.address)
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.root.path());
        command.env("TOKEN", self.tenant.token("boss", &["admin"]));
    }

    /// Adds text to a file of the folder.
    fn add(&self, file: &str, text: &str) {
        let path = self.folder().join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + text).unwrap();
    }

    fn policy_id(&self, name: &str) -> String {
        let listed = self.tenant.get("/api/v1/abac/policies").is(200).json();
        let listed = listed.as_array().unwrap();
        let own = listed.iter().find(|record| record["name"] == name).expect("the policy");
        own["id"].as_str().unwrap().to_owned()
    }
}

/// The check of an exit code.
trait Ended {
    fn is(self, code: i32) -> Self;
}

impl Ended for Finished {
    #[track_caller]
    fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }
}

#[test]
fn an_export_is_adopted_and_then_nothing_changes() {
    let exported = Exported::new();
    let written = exported.export("acme").is(0);
    assert!(written.err.contains("6 files written to acme: revision "), "{}", written.err);
    let text = |name: &str| fs::read_to_string(exported.folder().join(name)).unwrap();
    assert_eq!(text("rules.yaml").lines().count(), 1);
    assert_eq!(
        text("policies.yaml"),
        "- name: other ward\n  resource: chart:*\n  effect: deny\n  priority: 10\n  when: user.ward != resource.ward\n\n\
         - name: own\n  resource: \"*\"\n  effect: allow\n  priority: 5\n  format: casbin\n  \
         rule_data: {matcher: \"r.sub.id == r.obj.owner\"}\n"
    );
    let planned = exported.run(&["plan", "acme"]).is(2);
    assert!(planned.out.contains("= resource `chart:read` (adopted)"), "{}", planned.out);
    let id = exported.policy_id("own");
    let applied = exported.run(&["apply", "acme"]).is(0);
    assert!(applied.out.contains(": applied as revision "), "{}", applied.out);
    assert_eq!(exported.policy_id("own"), id);
    let again = exported.run(&["apply", "acme"]).is(0);
    assert!(again.out.contains(": nothing to do at revision "), "{}", again.out);
    exported.run(&["plan", "acme"]).is(0);
    exported.run(&["drift", "acme"]).is(0);
    // The same content is the same bytes.
    exported.export("again").is(0);
    for file in ["tenant.yaml", "resources.yaml", "rules.yaml", "policies.yaml", "cases.yaml"] {
        let again = fs::read_to_string(exported.root.path().join("again").join(file)).unwrap();
        assert_eq!(text(file), again, "{file}");
    }
    let refused = exported.export("again").is(1);
    assert!(refused.err.contains("is there already; use --force to replace it"), "{}", refused.err);
    // No folder has the tenant of every domain.
    let refused = exported.run(&["export", "--tenant", "*", "--tenant-folder", "every"]).is(1);
    let expected = "--tenant: expected one domain of 1 to 256 characters without `*`, not `*`";
    assert!(refused.err.contains(expected), "{}", refused.err);
    assert!(!exported.root.path().join("every").exists());
}

#[test]
fn a_plan_is_carried_out_only_as_it_was_made() {
    let exported = Exported::applied();
    exported.add("policies.yaml", LATE);
    let planned = exported.run(&["plan", "acme", "--out", "plan.json", "--format", "json"]).is(2);
    let answer: Value = serde_json::from_str(&planned.out).unwrap();
    assert_eq!(answer["counts"]["create"], 1);
    // The folder is another one.
    exported.add("rules.yaml", "- {sub: x, obj: chart:read, act: read, effect: deny}\n");
    let refused = exported.run(&["apply", "acme", "--plan", "plan.json"]).is(1);
    assert!(refused.err.contains("the folder has changed"), "{}", refused.err);
    // The service has changed.
    exported.run(&["plan", "acme", "--out", "plan.json"]).is(2);
    let route = format!("PUT /api/v1/abac/policies/{}?force=true", exported.policy_id("own"));
    exported.tenant.manage(route, &json!({"priority": 6})).is(200);
    let refused = exported.run(&["apply", "acme", "--plan", "plan.json"]).is(1);
    assert!(refused.err.contains("run `portcullis plan` again"), "{}", refused.err);
    // Another object does not matter.
    exported.run(&["plan", "acme", "--out", "plan.json"]).is(2);
    exported.tenant.rule("somebody", "chart:read", "read", "allow");
    exported.run(&["apply", "acme", "--plan", "plan.json"]).is(0);
    exported.run(&["plan", "acme"]).is(0);
}

#[test]
fn drift_is_what_somebody_changed_beside_the_folder() {
    let exported = Exported::applied();
    let route = format!("PUT /api/v1/abac/policies/{}?force=true", exported.policy_id("own"));
    exported.tenant.manage(route, &json!({"priority": 6})).is(200);
    let drift = exported.run(&["drift", "acme"]).is(2);
    assert!(
        drift.out.contains("~ policy `own`\n    /priority: 5 in the folder, 6 in the service"),
        "{}",
        drift.out
    );
    // What nobody keeps in files is none.
    exported.run(&["apply", "acme"]).is(0);
    exported.tenant.rule("somebody", "chart:read", "read", "allow");
    exported.run(&["drift", "acme"]).is(0);
}

#[test]
fn drift_of_another_owner_is_a_conflict() {
    let exported = Exported::applied();
    for format in ["text", "json", "markdown"] {
        let args = ["drift", "acme", "--owner", "git:mistyped", "--format", format];
        let drift = exported.run(&args).is(1);
        assert!(!drift.out.contains("no drift"), "{}", drift.out);
        assert!(drift.out.contains("files:"), "the owner is named: {}", drift.out);
        assert!(drift.err.contains("objects belong to other owners"), "{}", drift.err);
    }
    // With `--force` they are compared, and are the same but for their owner.
    exported.run(&["drift", "acme", "--owner", "git:mistyped", "--force"]).is(0);
    exported.add("policies.yaml", LATE);
    let drift = exported.run(&["drift", "acme"]).is(2);
    assert!(drift.out.contains("the service lacks it"), "{}", drift.out);
}

#[test]
fn drift_without_pruning_leaves_what_the_folder_lacks() {
    let exported = Exported::applied();
    fs::write(exported.folder().join("policies.yaml"), "[]\n").unwrap();
    exported.run(&["drift", "acme"]).is(2);
    exported.run(&["drift", "acme", "--no-prune"]).is(0);
}

#[test]
fn roles_that_include_others_are_exported_planned_and_drift() {
    let exported = Exported::new();
    let tenant = &exported.tenant;
    let include = |role: &str, included: &str| {
        tenant.manage(format!("PUT /api/v1/roles/{role}"), &json!({"includes": [included]}))
    };
    include("head", "nurse").is(201);
    exported.export("acme").is(0);
    let file = |folder: &str| {
        fs::read_to_string(exported.root.path().join(folder).join("roles.yaml")).unwrap()
    };
    assert_eq!(file("acme"), "- {name: head, includes: [nurse]}\n");
    let planned = exported.run(&["plan", "acme"]).is(2);
    assert!(planned.out.contains("= role `head` (adopted)"), "{}", planned.out);
    exported.run(&["apply", "acme"]).is(0);
    exported.run(&["plan", "acme"]).is(0);
    // Somebody changes it beside the folder.
    include("head?force=true", "porter").is(200);
    let drift = exported.run(&["drift", "acme"]).is(2);
    let line =
        "~ role `head`\n    /includes: [\"nurse\"] in the folder, [\"porter\"] in the service";
    assert!(drift.out.contains(line), "{}", drift.out);
    exported.export("again").is(0);
    assert_eq!(file("again"), "- {name: head, includes: [porter]}\n");
    let mut command = portcullis(&["diff", "acme", "again"]);
    command.current_dir(exported.root.path());
    let differing = finish(command).is(2);
    assert!(differing.out.contains("head has chart:read"), "{}", differing.out);
    exported.run(&["apply", "acme"]).is(0);
    exported.run(&["drift", "acme"]).is(0);
}

#[test]
fn drift_unowned_lists_what_decides_without_an_owner() {
    let exported = Exported::applied();
    let tenant = &exported.tenant;
    let listed = exported.run(&["drift", "--unowned"]).is(0);
    assert_eq!(listed.out, "everything that decides has an owner");
    tenant.rule("somebody", "chart:read", "read", "allow");
    tenant.manage("PUT /api/v1/roles/night", &json!({"includes": ["nurse"]})).is(201);
    let tree: Value = serde_json::from_str(TREE).unwrap();
    tenant.policy("by hand", "chart:*", "deny", 1, &tree);
    // A disabled policy decides nothing, and neither does a resource without default roles.
    let off = tenant.policy("off", "chart:*", "deny", 1, &tree);
    tenant.manage(format!("PUT /api/v1/abac/policies/{off}"), &json!({"enabled": false})).is(200);
    let resources =
        json!([{"name": "note:read", "defaultRoles": ["nurse"]}, {"name": "note:write"}]);
    tenant.manage("POST /api/v1/resources/list", &resources).is(200);
    let listed = exported.run(&["drift", "--unowned"]).is(2);
    let rule = format!("somebody, {}, chart:read, read", tenant.name);
    assert_eq!(
        listed.out,
        format!(
            "these decide and have no owner\n+ resource `note:read`\n+ rule `{rule}`\n+ role `night`\n+ policy `by hand`"
        )
    );
    let json = exported.run(&["drift", "--unowned", "--format", "json"]).is(2);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["unowned"][1], json!({"kind": "rule", "name": rule}));
}

#[test]
fn objects_of_another_owner_are_conflicts() {
    let exported = Exported::applied();
    let planned = exported.run(&["plan", "acme", "--owner", "git:other"]).is(1);
    let line = format!("policy `own` belongs to files:{}", exported.tenant.name);
    assert!(planned.out.contains(&line), "{}", planned.out);
    let refused = exported.run(&["apply", "acme", "--owner", "git:other"]).is(1);
    assert!(
        refused.err.contains("--force takes the objects over") && refused.err.contains(&line),
        "{}",
        refused.err
    );
    exported.run(&["apply", "acme", "--owner", "git:other", "--force"]).is(0);
    exported.run(&["plan", "acme", "--owner", "git:other"]).is(0);
}

#[test]
fn deletions_beyond_the_limit_need_a_word() {
    let exported = Exported::applied();
    fs::write(exported.folder().join("policies.yaml"), "[]\n").unwrap();
    let refused = exported.run(&["apply", "acme"]).is(1);
    assert!(refused.err.contains("--allow-deletes lifts the limit"), "{}", refused.err);
    exported.run(&["apply", "acme", "--no-prune"]).is(0);
    exported.run(&["apply", "acme", "--allow-deletes"]).is(0);
    assert_eq!(exported.tenant.get("/api/v1/abac/policies").is(200).json(), json!([]));
}

#[test]
fn a_failing_case_keeps_an_apply_from_writing_unless_it_may() {
    let exported = Exported::applied();
    let case = "- {name: eve reads, check: {subject: eve, resource: 'chart:read', action: read}, expect: {decision: allow}}\n";
    fs::write(exported.folder().join("cases.yaml"), case).unwrap();
    fs::write(exported.folder().join("policies.yaml"), LATE).unwrap();
    let before = exported.tenant.get("/api/v1/abac/policies").is(200).json();
    let apply = ["apply", "acme", "--allow-deletes"];
    let refused = exported.run(&apply).is(1);
    for part in ["--despite-cases", "FAILED `eve reads`: expected allow, not deny by `late`"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    assert_eq!(exported.tenant.get("/api/v1/abac/policies").is(200).json(), before);
    let applied = exported.run(&[&apply[..], &["--despite-cases"]].concat()).is(0);
    assert!(applied.out.contains("1 failed"), "{}", applied.out);
    assert_ne!(exported.tenant.get("/api/v1/abac/policies").is(200).json(), before);
}

#[test]
fn faults_say_where_they_are_and_what_to_do() {
    let exported = Exported::new();
    exported.export("acme").is(0);
    exported.add(
        "webhooks.yaml",
        "- {url: https://hook.example/, events: [access.denied], secret: '${env:HOOK_SECRET}'}\n",
    );
    let refused = exported.run(&["plan", "acme"]).is(1);
    assert!(
        refused.err.contains("acme/webhooks.yaml:1:")
            && refused.err.contains("expected a value in the variable `HOOK_SECRET`"),
        "{}",
        refused.err
    );
    fs::remove_file(exported.folder().join("webhooks.yaml")).unwrap();
    // Not the address of a service, no service, and no credential.
    let elsewhere = format!("{}/elsewhere", exported.url());
    for (url, expected) in [
        (&*elsewhere, "--url is the address of a Portcullis service"),
        ("http://127.0.0.1:1", "gives no answer; is the service running there?"),
    ] {
        let mut command = portcullis(&["plan", "acme", "--url", url]);
        exported.prepare(&mut command);
        let refused = finish(command).is(1);
        assert!(refused.err.contains(expected), "{}", refused.err);
    }
    // The exit code of a setting that is missing is 2, which is a change where the command shows changes.
    for (command, code) in [
        (&["plan", "acme"][..], 1),
        (&["drift", "acme"], 1),
        (&["apply", "acme"], 2),
        (&["export", "--tenant-folder", "other", "--tenant", "acme"], 2),
        (&["decisions", "search"], 2),
        (&["import", "relations", "tuples.txt"], 2),
    ] {
        let mut command = portcullis(command);
        command.args(["--url", &exported.url()]).current_dir(exported.root.path());
        let refused = finish(command).is(code);
        assert!(refused.err.contains("SERVICE_API_KEY: expected a service key"), "{}", refused.err);
    }
    // A fault of the content is named with its item.
    exported.add(
        "policies.yaml",
        "- {name: n, resource: '*', effect: deny, priority: 1, when: hr.x == 1}\n",
    );
    exported.run(&["plan", "acme"]).is(1);
}

/// Returns the script of a pipeline: the lines of the first block after `marker`, without their indentation.
fn script(file: &Path, marker: &str) -> String {
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let lines = text.lines().skip_while(|line| line.trim() != marker).skip(1);
    let lines: Vec<_> = lines.collect();
    let indent = lines[0].len() - lines[0].trim_start().len();
    let inside =
        lines.into_iter().take_while(|line| line.len() - line.trim_start().len() >= indent);
    inside.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect()
}

#[test]
fn pipelines_test_and_plan_a_folder() {
    let exported = Exported::applied();
    exported.add("policies.yaml", LATE);
    let cases = "- name: late\n  check: {subject: a, resource: chart:read, action: read, attributes: {resource: {late: true, ward: x, owner: b}, user: {ward: x, id: a}}}\n  expect: {decision: deny, rule: late}\n";
    fs::write(exported.folder().join("cases.yaml"), cases).unwrap();
    let owner = format!("files:{}", exported.tenant.name);
    for (file, marker, names) in [
        ("deploy/ci/github/action.yml", "run: |", ["FOLDER", "URL", "OWNER"]),
        (
            "deploy/ci/portcullis.gitlab-ci.yml",
            "- |",
            ["PORTCULLIS_FOLDER", "PORTCULLIS_SERVICE", "PORTCULLIS_OWNER"],
        ),
    ] {
        let script = script(Path::new(file), marker);
        let binary = portcullis(&[]);
        let binaries = Path::new(binary.get_program()).parent().unwrap().display().to_string();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &script]).env_clear();
        exported.prepare(&mut command);
        command.env("PATH", format!("{binaries}:/usr/bin:/bin"));
        let values = ["acme".to_owned(), exported.url(), owner.clone()];
        command.envs(names.iter().zip(&values));
        for name in ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"] {
            command.env(name, exported.root.path().join(name));
        }
        let done = finish(command).is(0);
        assert!(
            done.out.contains("### Portcullis: plan") && done.out.contains("+ policy `late`"),
            "{}",
            done.out
        );
    }
    let output = fs::read_to_string(exported.root.path().join("GITHUB_OUTPUT")).unwrap();
    assert_eq!(output, "changes=true\n");
}
