//! `portcullis import`: from Casbin's files to rules and policies, in files or in a running service, and from a store of
//! OpenFGA to a folder.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::support::Tenant;
use crate::support::process::{Finished, finish, portcullis};

const MODEL: &str = "[request_definition]\nr = sub, obj, act\n\n[policy_definition]\np = sub, obj, act, eft\n\n\
    [role_definition]\ng = _, _\n\n\
    [policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n\n\
    [matchers]\nm = g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && r.act == p.act\n";
const POLICY: &str = "p, editor, wiki, read, allow\np, editor, wiki, write, allow\np, bob, wiki, write, deny\n\
    g, ann, editor\ng, bob, editor\n";
/// A line that becomes a policy.
const PATHS: &str = "p, editor, /docs/*, read, allow\n";

/// Writes the files, with more lines at the end of the policy.
fn files(more: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.conf"), MODEL).unwrap();
    std::fs::write(folder.path().join("policy.csv"), format!("{POLICY}{more}")).unwrap();
    folder
}

fn import(folder: &Path, variables: &[(&str, &str)], more: &[&str]) -> Finished {
    let mut command = portcullis(&["import", "casbin", "model.conf", "policy.csv"]);
    command.current_dir(folder).args(more).envs(variables.iter().copied());
    finish(command)
}

/// Returns the text of a file in `folder`.
fn text(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn rules_are_printed_or_written_as_a_tenant_has_them() {
    let folder = files("");
    let printed = import(folder.path(), &[], &[]);
    assert_eq!((printed.code, &*printed.err), (Some(0), "6 rules, 0 policies"), "{}", printed.out);
    let written = import(folder.path(), &[], &["--out", "rules.yaml"]);
    assert_eq!((written.code, &*written.out), (Some(0), ""), "{}", written.err);
    assert_eq!(written.err, "6 rules, 0 policies written to rules.yaml");
    let rules = text(&folder, "rules.yaml");
    assert_eq!(format!("# rules.yaml\n{}", rules.trim_end()), printed.out);
}

#[test]
fn a_folder_gets_rules_and_policies() {
    let folder = files(PATHS);
    let printed = import(folder.path(), &[], &[]);
    assert_eq!((printed.code, &*printed.err), (Some(0), "6 rules, 1 policies"), "{}", printed.out);
    let written = import(folder.path(), &[], &["--out", "."]);
    assert_eq!((written.code, &*written.out), (Some(0), ""), "{}", written.err);
    let (rules, policies) = (text(&folder, "rules.yaml"), text(&folder, "policies.yaml"));
    let both = format!("# rules.yaml\n{rules}# policies.yaml\n{}", policies.trim_end());
    assert_eq!(both, printed.out);

    // The files are those that `portcullis test` reads, and they decide as the policy says.
    let case = |subject: &str, resource: &str, decision: &str, rule: &str| {
        let (_, action) = resource.split_once(':').unwrap();
        format!(
            "- name: {subject} {resource}\n  check: {{subject: {subject}, resource: \"{resource}\", \
             action: {action}}}\n  expect: {{decision: {decision}, rule: \"{rule}\"}}\n"
        )
    };
    let cases = [
        case("ann", "wiki:write", "allow", "ann, acme, wiki:write, write"),
        case("bob", "wiki:read", "allow", "bob, acme, wiki:read, read"),
        case("bob", "wiki:write", "deny", "bob, acme, wiki:write, write"),
        case("editor", "wiki:read", "allow", "editor, acme, wiki:read, read"),
        case("eve", "wiki:read", "deny", "default-deny"),
        case("ann", "/docs/a/b:read", "allow", "casbin allow *: line 6"),
        case("ann", "/docs:read", "deny", "default-deny"),
        case("eve", "/docs/a:read", "deny", "default-deny"),
    ];
    for (name, text) in [
        ("tenant.yaml", "tenant: acme\nusers: []\n"),
        ("resources.yaml", "[]\n"),
        ("cases.yaml", &*cases.concat()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = portcullis(&["test"]);
    command.arg(folder.path());
    let tested = finish(command);
    assert_eq!(tested.code, Some(0), "{}{}", tested.out, tested.err);
}

#[test]
fn no_file_is_replaced_unless_that_is_wanted() {
    let folder = files(PATHS);
    // One of two files is there: none is written.
    std::fs::write(folder.path().join("policies.yaml"), "mine").unwrap();
    let refused = import(folder.path(), &[], &["--out", "."]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(
        refused.err.ends_with("policies.yaml is there already; use --force to replace it"),
        "{}",
        refused.err
    );
    assert_eq!(text(&folder, "policies.yaml"), "mine");
    assert!(!folder.path().join("rules.yaml").exists());
    // Each file that `--force` would replace is named.
    std::fs::write(folder.path().join("rules.yaml"), "mine").unwrap();
    let refused = import(folder.path(), &[], &["--out", "."]);
    let both = "rules.yaml and ./policies.yaml are there already; use --force to replace them";
    assert!(refused.code == Some(1) && refused.err.ends_with(both), "{}", refused.err);
    let forced = import(folder.path(), &[], &["--out", ".", "--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert!(text(&folder, "policies.yaml").contains("starts_with"));
    // A file of rules has no place for policies.
    let refused = import(folder.path(), &[], &["--out", "other.yaml"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("give a folder to --out"), "{}", refused.err);
    assert!(!folder.path().join("other.yaml").exists());
}

#[test]
fn decisions_are_compared_before_anything_is_written() {
    let folder = files(PATHS);
    let right = "ann, wiki, write, true\nbob, wiki, write, false\nann, /docs/a, read, true\neve, wiki, read, false\n";
    std::fs::write(folder.path().join("requests.csv"), right).unwrap();
    let done = import(folder.path(), &[], &["--check", "requests.csv", "--out", "one"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.starts_with("4 requests are decided as Casbin decides them"), "{}", done.err);
    let wrong = right.replace("write, false", "write, true");
    std::fs::write(folder.path().join("requests.csv"), wrong).unwrap();
    let done = import(folder.path(), &[], &["--check", "requests.csv", "--out", "two"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(
        done.err.starts_with("requests.csv:2: Casbin decides allow, Portcullis deny"),
        "{}",
        done.err
    );
    assert!(done.err.contains("1 of 4 requests are decided otherwise"), "{}", done.err);
    assert!(!folder.path().join("two").exists());
}

#[test]
fn rules_and_policies_are_created_in_a_running_service() {
    let tenant = Tenant::new();
    let body = json!({"name": "import", "permissions": ["policies:read", "policies:write"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let url = format!("http://{}", tenant.address);
    let (folder, to) = (files(PATHS), ["--url", &*url]);
    // One rule exists before.
    tenant.rule("editor", "wiki:read", "read", "allow");
    let done = import(folder.path(), &[("SERVICE_API_KEY", &key)], &to);
    assert_eq!((done.code, &*done.out), (Some(0), ""), "{}", done.err);
    let lines: Vec<_> = done.err.lines().skip(1).collect();
    assert!(done.err.starts_with("casbin: applied as revision "), "{}", done.err);
    let adopted = format!("= rule `editor, {}, wiki:read, read` (adopted)", tenant.name);
    let counts = "6 to create, 0 to update, 0 to delete, 1 to adopt, 0 unchanged";
    assert_eq!(lines, ["", &adopted, "", counts]);
    assert!(tenant.decide("ann", "wiki:write", "write").allowed());
    assert!(tenant.decide("bob", "wiki:read", "read").allowed());
    assert!(tenant.decide("bob", "/docs/a:read", "read").allowed());
    assert!(!tenant.decide("bob", "wiki:write", "write").allowed());
    assert!(!tenant.decide("eve", "wiki:read", "read").allowed());

    // Again, with the key in a file, and the address with a slash.
    std::fs::write(folder.path().join("key"), format!("{key}\n")).unwrap();
    let again = import(folder.path(), &[], &["--url", &format!("{url}/"), "--key-file", "key"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(again.err.starts_with("casbin: nothing to do at revision "), "{}", again.err);
    assert!(again.err.ends_with("0 to adopt, 7 unchanged"), "{}", again.err);

    // The files win over what was imported before.
    let denied = POLICY.replace("editor, wiki, write, allow", "editor, wiki, write, deny");
    std::fs::write(folder.path().join("policy.csv"), &denied).unwrap();
    let denied = import(folder.path(), &[("SERVICE_API_KEY", &key)], &to);
    assert_eq!(denied.code, Some(0), "{}", denied.err);
    assert!(denied.err.contains("    /effect: \"allow\" → \"deny\""), "{}", denied.err);
    assert!(!tenant.decide("ann", "wiki:write", "write").allowed());
    assert!(!tenant.decide("bob", "/docs/a:read", "read").allowed());
    // The objects of another owner stay.
    let other = [&to[..], &["--owner", "other"]].concat();
    let refused = import(folder.path(), &[("SERVICE_API_KEY", &key)], &other);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("belongs to casbin"), "{}", refused.err);
    // The hint names no option that an import does not have.
    assert!(refused.err.contains("write a folder with --out"), "{}", refused.err);
    assert!(!refused.err.contains("; --force"), "{}", refused.err);
}

/// The model and the requests of an application in Go, whose `g` line for every domain bans Bob.
#[test]
fn a_deny_for_every_domain_holds_as_in_casbin_for_go() {
    let model = "[request_definition]\nr = sub, dom, obj, act\n\n[policy_definition]\np = sub, dom, obj, act, eft\n\n\
        [role_definition]\ng = _, _, _\n\n\
        [policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n\n\
        [matchers]\nm = g(r.sub, p.sub, r.dom) == true && keyMatch(r.dom, p.dom) && r.obj == p.obj && r.act IN (p.act, \"list\")\n";
    let policy = "p, staff, org/*, file:1, read, allow\np, banned, *, file:1, read, deny\ng, ann, staff, org/*,\n\
        g, bob, staff, org/1,,\ng, bob, banned, *\n";
    let folder = tempfile::tempdir().unwrap();
    let requests = "ann, org/1, file:1, read, true\nbob, org/1, file:1, read, false\nann, org/2, file:2, read, false\n";
    for (name, text) in [("model.conf", model), ("policy.csv", policy), ("requests.csv", requests)]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let done = import(folder.path(), &[], &["--check", "requests.csv", "--out", "acme"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.starts_with("policy.csv:3: note: the matcher has"), "{}", done.err);
    // The folder decides the check that the documents name as `--check` does.
    let cases = [
        ("ann", "org/1", "allow", "casbin allow file:1: line 1"),
        ("bob", "org/1", "deny", "bob, *, file:1, read"),
        ("ann", "other", "deny", "default-deny"),
    ];
    let cases = cases.map(|(subject, domain, decision, rule)| {
        format!(
            "- name: {subject} {domain}\n  check: {{subject: {subject}, domain: {domain}, resource: \"file:1\", action: read}}\n  \
             expect: {{decision: {decision}, rule: \"{rule}\"}}\n"
        )
    });
    for (name, text) in [
        ("tenant.yaml", "tenant: acme\nusers: []\n"),
        ("resources.yaml", "[]\n"),
        ("cases.yaml", &*cases.concat()),
    ] {
        std::fs::write(folder.path().join("acme").join(name), text).unwrap();
    }
    let mut command = portcullis(&["test"]);
    command.arg(folder.path().join("acme"));
    let tested = finish(command);
    assert_eq!(tested.code, Some(0), "{}{}", tested.out, tested.err);
    // An object without a verb is not a resource here, and no check can ask about it.
    std::fs::write(folder.path().join("requests.csv"), "ann, org/1, file, read, false\n").unwrap();
    let done = import(folder.path(), &[], &["--check", "requests.csv"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.err.contains("requests.csv:1: `file` has no verb"), "{}", done.err);
}

#[test]
fn errors_of_the_service_are_shown_without_the_key() {
    let tenant = Tenant::new();
    let (folder, url) = (files(""), format!("http://{}", tenant.address));
    let body = json!({"name": "reader", "permissions": ["policies:read"]});
    let reader = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    for (key, url, message) in [
        ("no-key-of-anybody", &*url, "401 Unauthorized: the service key is unknown"),
        (
            &*reader,
            &*url,
            "403 Forbidden: the service key does not have the permission `policies:write`",
        ),
        (&*reader, "http://127.0.0.1:1", "gives no answer; is the service running there?"),
        ("naïve\u{1}", &*url, "SERVICE_API_KEY: expected characters that a header can have"),
        ("", &*url, "SERVICE_API_KEY: expected a service key with the permissions of every kind"),
    ] {
        let done = import(folder.path(), &[("SERVICE_API_KEY", key)], &["--url", url]);
        assert_ne!(done.code, Some(0), "{}", done.err);
        assert!(done.err.contains(message), "{}", done.err);
        assert!(key.is_empty() || !done.err.contains(key), "{}", done.err);
    }
    tenant.decide("ann", "wiki:write", "write").is_default();
}

#[test]
fn an_incomplete_import_writes_nothing_without_skip_unsupported() {
    let folder = files("p, ann, wiki:read, read, allow\np, ann, blog, read, allow\n");
    let out = folder.path().join("rules.yaml");
    let done = import(folder.path(), &[], &["--out", "rules.yaml"]);
    assert_eq!((done.code, &*done.out), (Some(1), ""));
    let line =
        "policy.csv:6: `wiki` is used with a verb and without one; use one form, as in line 1";
    assert!(done.err.starts_with(line), "{}", done.err);
    assert!(done.err.contains("nothing was imported: 1 lines cannot be expressed"), "{}", done.err);
    assert!(!out.exists());
    let done = import(folder.path(), &[], &["--out", "rules.yaml", "--skip-unsupported"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.err.starts_with(line)
            && done.err.contains("lines skipped; Portcullis does not enforce them: 1"),
        "{}",
        done.err
    );
    assert!(text(&folder, "rules.yaml").contains("blog:read"));

    // The faults of a model are all named.
    let model = MODEL.replace("act, eft\n", "act, eft\np2 = sub, act\n");
    std::fs::write(folder.path().join("model.conf"), model.replace("g = _, _", "g = _")).unwrap();
    let done = import(folder.path(), &[], &["--skip-unsupported"]);
    assert_eq!(done.code, Some(1));
    assert_eq!(
        done.err,
        "portcullis: model.conf:6: `p2` of `[policy_definition]` is a second definition; import it as a model of its \
         own\nmodel.conf:9: expected `_, _` or `_, _, _`; write a policy for roles with conditions"
    );
    std::fs::remove_file(folder.path().join("policy.csv")).unwrap();
    std::fs::write(folder.path().join("model.conf"), MODEL).unwrap();
    let done = import(folder.path(), &[], &[]);
    assert!(done.code == Some(1) && done.err.contains("policy.csv: No such file"), "{}", done.err);
}

const STORE: &str = "name: Shared Drive\nmodel_file: model.fga\ntuples:\n\
    - {user: user:ann, relation: owner, object: folder:plans}\n\
    - {user: folder:plans, relation: parent, object: doc:q3}\n\
    tests:\n- name: owners\n  check:\n\
    \x20 - {user: user:ann, object: doc:q3, assertions: {viewer: true}}\n\
    \x20 - {user: user:bob, object: doc:q3, assertions: {viewer: false}}\n";
const OPENFGA_MODEL: &str = "model\n  schema 1.1\ntype user\ntype folder\n  relations\n    define owner: [user]\n\
    type doc\n  relations\n    define parent: [folder]\n    define viewer: [user] or owner from parent\n";

/// Imports a store, whose model ends with `more`, into the folder `drive`.
fn import_store(folder: &Path, more: &str, arguments: &[&str]) -> Finished {
    std::fs::write(folder.join("store.fga.yaml"), STORE).unwrap();
    std::fs::write(folder.join("model.fga"), format!("{OPENFGA_MODEL}{more}")).unwrap();
    let mut command = portcullis(&["import", "openfga", "store.fga.yaml", "--out", "drive"]);
    command.current_dir(folder).args(arguments);
    finish(command)
}

#[test]
fn a_store_of_openfga_becomes_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let done = import_store(folder.path(), "", &[]);
    let said = "2 questions of the tests are answered as they expect\n\
        2 types, 3 rules, 2 relations, 2 cases written to drive";
    assert_eq!((done.code, &*done.out, &*done.err), (Some(0), "", said));
    assert!(text(&folder, "drive/tenant.yaml").starts_with("tenant: shared-drive\n"));
    assert!(text(&folder, "drive/types.yaml").contains("viewer: \"[user] || parent.owner\""));
    let mut command = portcullis(&["test", "drive"]);
    command.current_dir(folder.path());
    let tested = finish(command);
    assert_eq!(tested.code, Some(0), "{}{}", tested.out, tested.err);
    let mut command = portcullis(&["check", "--dir", "drive", "ann", "viewer", "doc:viewer"]);
    command.args(["--attr", "resource.id=q3"]).current_dir(folder.path());
    let checked = finish(command);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    // Without the tuple the case fails.
    let tuples = text(&folder, "drive/relations.yaml");
    let (first, _) = tuples.split_once('\n').unwrap();
    std::fs::write(folder.path().join("drive/relations.yaml"), first).unwrap();
    let mut command = portcullis(&["test", "drive"]);
    command.current_dir(folder.path());
    assert_eq!(finish(command).code, Some(1));
    // Again: what the import has nothing for stays.
    std::fs::write(folder.path().join("drive/tenant.yaml"), "tenant: acme\nusers: []\n").unwrap();
    let again = import_store(folder.path(), "", &[]);
    assert_eq!(again.code, Some(1), "{}", again.err);
    assert!(again.err.contains("drive/relations.yaml are there already"), "{}", again.err);
    let forced = import_store(folder.path(), "", &["--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert!(text(&folder, "drive/tenant.yaml").starts_with("tenant: acme\n"));
}

#[test]
fn a_store_of_openfga_answers_in_a_running_service() {
    let tenant = Tenant::new();
    let permissions =
        ["policies:read", "policies:write", "resources:read", "resources:write", "relations:write"];
    let body = json!({"name": "import", "permissions": permissions});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let (folder, url) = (tempfile::tempdir().unwrap(), format!("http://{}", tenant.address));
    std::fs::write(folder.path().join("store.fga.yaml"), STORE).unwrap();
    std::fs::write(folder.path().join("model.fga"), OPENFGA_MODEL).unwrap();
    let run = || {
        let mut command = portcullis(&["import", "openfga", "store.fga.yaml", "--url", &url]);
        command.current_dir(folder.path()).env("SERVICE_API_KEY", &key);
        finish(command)
    };
    let done = run();
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let written = "relations: 2 written, 0 unchanged, 0 deleted";
    assert!(done.err.contains(written) || done.out.contains(written), "{}{}", done.out, done.err);
    for (subject, expected) in [("ann", "allow"), ("bob", "deny")] {
        let body = json!({
            "subject": subject, "resource": "doc:viewer", "action": "viewer",
            "attributes": {"resource": {"id": "q3"}},
        });
        assert_eq!(tenant.check(&body).is(200).text_of("decision"), expected, "{subject}");
    }
    let again = run();
    let unchanged = "relations: 0 written, 2 unchanged, 0 deleted";
    let said = again.out + &again.err;
    assert!(again.code == Some(0) && said.contains(unchanged), "{said}");
    // The store drops a relation: its tuples go with the types.
    let model = OPENFGA_MODEL.replace("parent: [folder]", "owner: [user]");
    let model = model.replace("owner from parent", "owner");
    std::fs::write(folder.path().join("model.fga"), model).unwrap();
    let store =
        STORE.replace("user: folder:plans, relation: parent", "user: user:ann, relation: owner");
    std::fs::write(folder.path().join("store.fga.yaml"), store).unwrap();
    let done = run();
    let said = done.out + &done.err;
    let deleted = "relations: 1 written, 1 unchanged, 1 deleted";
    assert!(done.code == Some(0) && said.contains(deleted), "{said}");
}

/// Nothing of the tuples is deleted before the import is accepted, and no more than the tenant allows.
#[test]
fn an_import_that_is_refused_deletes_no_tuple() {
    let (tenant, folder) = (Tenant::new(), tempfile::tempdir().unwrap());
    let url = format!("http://{}", tenant.address);
    let run = |model: &str, more: &[&str]| {
        std::fs::write(folder.path().join("model.fga"), model).unwrap();
        let mut command =
            portcullis(&["import", "openfga", "--model", "model.fga", "--tuples", "tuples.yaml"]);
        command.args(["--url", &url]).args(more).current_dir(folder.path());
        command.env("TOKEN", tenant.token("boss", &["admin"]));
        finish(command)
    };
    let tuple = |name: &str, id: usize| {
        format!("- {{object: 'doc:d{id}', relation: {name}, user: 'user:ann'}}\n")
    };
    let tuples = |owners: usize| -> String {
        let viewers = (0..4).map(|id| tuple("viewer", id));
        viewers.chain((0..owners).map(|id| tuple("owner", id))).collect()
    };
    let model = |relations: &str| {
        format!("model\n  schema 1.1\ntype user\ntype doc\n  relations\n{relations}")
    };
    let both = model("    define owner: [user]\n    define viewer: [user]\n");
    let viewers = model("    define viewer: [user]\n");
    std::fs::write(folder.path().join("tuples.yaml"), tuples(11)).unwrap();
    let done = run(&both, &[]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let owners = || tenant.get("/api/v1/relations?relation=owner").is(200).json();
    assert_eq!(owners().as_array().unwrap().len(), 11);
    // Eleven of fifteen are more than a fifth, and more than ten.
    std::fs::write(folder.path().join("tuples.yaml"), tuples(0)).unwrap();
    let refused = run(&viewers, &[]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    for part in
        ["11 of 15 tuples of the source", "the types do not allow any more", "--allow-deletes"]
    {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert_eq!(owners().as_array().unwrap().len(), 11, "nothing is deleted");
    // Tuples of other sources stay, and the import is refused for them.
    let other = json!({"write": [{"object": "doc:x", "relation": "owner", "subject": "user:eve"}]});
    tenant.manage("POST /api/v1/relations", &other).is(200);
    let refused = run(&viewers, &["--allow-deletes"]);
    assert!(refused.err.contains("1 stored tuples of this relation"), "{}", refused.err);
    assert_eq!(owners().as_array().unwrap().len(), 12, "nothing is deleted");
    let gone = json!({"delete": [{"object": "doc:x", "relation": "owner", "subject": "user:eve"}]});
    tenant.manage("POST /api/v1/relations", &gone).is(200);
    let succeeds = |model: &str, more: &[&str], counts: &str| {
        let done = run(model, more);
        let said = done.out + &done.err;
        assert!(done.code == Some(0) && said.contains(counts), "{said}");
    };
    succeeds(&viewers, &["--allow-deletes"], "relations: 0 written, 4 unchanged, 11 deleted");
    // A few go whatever part of the source they are.
    std::fs::write(folder.path().join("tuples.yaml"), tuples(10)).unwrap();
    succeeds(&both, &[], "relations: 10 written, 4 unchanged, 0 deleted");
    std::fs::write(folder.path().join("tuples.yaml"), tuples(0)).unwrap();
    succeeds(&viewers, &[], "relations: 0 written, 4 unchanged, 10 deleted");
}

#[test]
fn a_store_of_openfga_is_refused_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let refused = import_store(folder.path(), "    define b: viewer but not b\n", &[]);
    let said = "model.fga:11: `but not` leads back to `b` of `doc`; subtract a relation that does not depend on it\n\
        portcullis: nothing was imported: 1 lines cannot be expressed";
    assert_eq!((refused.code, &*refused.out), (Some(1), ""), "{}", refused.err);
    assert_eq!(refused.err, said);
    assert!(!folder.path().join("drive").exists());
}
