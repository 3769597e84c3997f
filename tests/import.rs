//! `portcullis import casbin`: from Casbin's files to rules, in a file or in a running service.

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

/// The files, with these lines of the policy behind the others.
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

#[test]
fn rules_are_printed_or_written_as_a_tenant_has_them() {
    let folder = files("");
    let printed = import(folder.path(), &[], &[]);
    assert_eq!((printed.code, &*printed.err), (Some(0), "6 rules"), "{}", printed.out);
    let written = import(folder.path(), &[], &["--out", "rules.yaml"]);
    assert_eq!((written.code, &*written.out), (Some(0), ""), "{}", written.err);
    let rules = std::fs::read_to_string(folder.path().join("rules.yaml")).unwrap();
    assert_eq!(rules.trim_end(), printed.out);

    // The file is one that `portcullis test` reads, and it decides as the policy says.
    let case = |subject: &str, action: &str, decision: &str, rule: &str| {
        format!(
            "- name: {subject} {action}\n  check: {{subject: {subject}, resource: \"wiki:{action}\", \
             action: {action}}}\n  expect: {{decision: {decision}, rule: \"{rule}\"}}\n"
        )
    };
    let cases = [
        case("ann", "write", "allow", "ann, acme, wiki:write, write"),
        case("bob", "read", "allow", "bob, acme, wiki:read, read"),
        case("bob", "write", "deny", "bob, acme, wiki:write, write"),
        case("editor", "read", "allow", "editor, acme, wiki:read, read"),
        case("eve", "read", "deny", "default-deny"),
    ];
    for (name, text) in [
        ("tenant.yaml", "tenant: acme\nusers: []\n"),
        ("resources.yaml", "[]\n"),
        ("policies.yaml", "[]\n"),
        ("cases.yaml", &cases.concat()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = portcullis(&["test"]);
    command.arg(folder.path());
    let tested = finish(command);
    assert_eq!(tested.code, Some(0), "{}{}", tested.out, tested.err);
}

#[test]
fn rules_are_created_in_a_running_service() {
    let tenant = Tenant::new();
    let body = json!({"name": "import", "permissions": ["policies:write"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let url = format!("http://{}", tenant.address);
    let (folder, to) = (files(""), ["--url", &*url]);
    // One is there before.
    tenant.rule("editor", "wiki:read", "read", "allow");
    let done = import(folder.path(), &[("SERVICE_API_KEY", &key)], &to);
    assert_eq!((done.code, &*done.out), (Some(0), ""), "{}", done.err);
    assert_eq!(done.err, "5 rules created, 1 already there, 0 not imported");
    assert!(tenant.decide("ann", "wiki:write", "write").allowed());
    assert!(tenant.decide("bob", "wiki:read", "read").allowed());
    assert!(!tenant.decide("bob", "wiki:write", "write").allowed());
    assert!(!tenant.decide("eve", "wiki:read", "read").allowed());

    // Again, with the key in a file, and the address with a slash.
    std::fs::write(folder.path().join("key"), format!("{key}\n")).unwrap();
    let again = import(folder.path(), &[], &["--url", &format!("{url}/"), "--key-file", "key"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert_eq!(again.err, "0 rules created, 6 already there, 0 not imported");
}

#[test]
fn what_goes_wrong_with_the_service_is_told_without_the_key() {
    let tenant = Tenant::new();
    let (folder, url) = (files(""), format!("http://{}", tenant.address));
    let body = json!({"name": "reader", "permissions": ["policies:read"]});
    let reader = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    for (key, url, told) in [
        ("no-key-of-anybody", &*url, "401 Unauthorized: the service key is unknown"),
        (
            &*reader,
            &*url,
            "403 Forbidden: the service key does not have the permission `policies:write`",
        ),
        (&*reader, "http://127.0.0.1:1", "the rule `editor, wiki:read, read`: "),
        ("naïve\u{1}", &*url, "the service key contains characters that a key cannot have"),
        (
            "",
            &*url,
            "SERVICE_API_KEY: expected a service key with `policies:write`, but it is not set",
        ),
    ] {
        let done = import(folder.path(), &[("SERVICE_API_KEY", key)], &["--url", url]);
        assert_ne!(done.code, Some(0), "{}", done.err);
        assert!(done.err.contains(told), "{}", done.err);
        assert!(key.is_empty() || !done.err.contains(key), "{}", done.err);
    }
    tenant.decide("ann", "wiki:write", "write").is_default();
}

#[test]
fn nothing_is_half_imported_unless_that_is_wanted() {
    let folder = files("p, ann, /wiki/*, read, allow\np, ann, blog, read, allow\n");
    let out = folder.path().join("rules.yaml");
    let done = import(folder.path(), &[], &["--out", "rules.yaml"]);
    assert_eq!((done.code, &*done.out), (Some(1), ""));
    let line = "policy.csv:6: `/wiki/*`: the only object patterns that Portcullis supports are `*` and `<name>:*`";
    assert!(done.err.starts_with(line), "{}", done.err);
    assert!(
        done.err.contains("nothing was imported: 1 lines cannot be expressed as rules"),
        "{}",
        done.err
    );
    assert!(!out.exists());
    let done = import(folder.path(), &[], &["--out", "rules.yaml", "--skip-unsupported"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.err.starts_with(line)
            && done.err.contains("lines skipped; Portcullis does not enforce them: 1"),
        "{}",
        done.err
    );
    assert!(std::fs::read_to_string(out).unwrap().contains("blog:read"));

    let model = MODEL.replace("r.act == p.act", "eval(p.act)");
    std::fs::write(folder.path().join("model.conf"), model).unwrap();
    let done = import(folder.path(), &[], &["--skip-unsupported"]);
    assert_eq!(done.code, Some(1));
    assert_eq!(done.err, "portcullis: model.conf:14: `eval(p.act)` is not supported in a matcher");
    std::fs::remove_file(folder.path().join("policy.csv")).unwrap();
    let done = import(folder.path(), &[], &[]);
    assert!(done.code == Some(1) && done.err.contains("policy.csv: No such file"), "{}", done.err);
}
