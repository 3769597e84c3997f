//! The sample resolvers of `policies/resolvers`: the committed components equal those built from their sources, and pass
//! their checks. The output of a run whose checks fail.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::dev::Dev;
use super::{edit, finished, resolver, resolver_command, succeeds};
use crate::support::process::repository;

fn sample(name: &str) -> PathBuf {
    repository().join("policies/resolvers").join(name)
}

/// Returns the description of a component, without the members that depend on the build.
#[track_caller]
fn about(component: &str) -> Value {
    let done = resolver(&["inspect", "--json", component], repository());
    let mut about: Value = serde_json::from_str(succeeds(&done)).expect("JSON");
    let about_object = about.as_object_mut().unwrap();
    about_object.remove("sha256");
    about_object.remove("size");
    about
}

#[test]
fn the_committed_components_are_what_their_sources_make() {
    let built = tempfile::tempdir().unwrap();
    for name in ["business-hours", "hr-directory", "network-zone"] {
        let folder = sample(name);
        let (folder, component) =
            (folder.to_str().unwrap(), format!("policies/resolvers/{name}/{name}.wasm"));
        let fresh = built.path().join(format!("{name}.wasm"));
        let fresh = fresh.to_str().unwrap();
        succeeds(&resolver(&["build", folder, "--out", fresh], repository()));
        assert_eq!(about(fresh), about(&component), "{name}");
        let mut described: Value =
            serde_json::from_slice(&std::fs::read(sample(name).join("descriptor.json")).unwrap())
                .unwrap();
        let described = described.as_object_mut().unwrap();
        described.remove("sha256");
        described.remove("size");
        assert_eq!(about(&component), Value::Object(described.clone()), "{name}");

        let answers = |component: &str| {
            let file = |file: &str| sample(name).join(file).to_str().unwrap().to_owned();
            let (manifest, checks) = (file("manifest.json"), file("checks.json"));
            let arguments = ["test", component, "--manifest", &manifest, "--checks", &checks];
            let done = resolver(&arguments, repository());
            // Times differ, and so does the path in the first line.
            let lines = succeeds(&done).lines().skip(1).filter(|line| !line.contains("took "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(answers(fresh), answers(&component), "{name}");
        let bytes = std::fs::read(sample(name).join(format!("{name}.wasm"))).unwrap();
        // Panics name the sources of dependencies, and must not say where they lie.
        let names_home = bytes.windows(7).any(|part| part == b"/.cargo");
        assert!(!names_home, "{name} names a folder of whoever built it");
    }
}

/// A folder with the component of `network-zone` and these checks.
fn with_checks(checks: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["network-zone.wasm", "manifest.json"] {
        std::fs::copy(sample("network-zone").join(file), folder.path().join(file)).unwrap();
    }
    std::fs::write(folder.path().join("checks.json"), checks.to_string()).unwrap();
    folder
}

fn check(ip: &str) -> Value {
    json!({"subject": "ann", "resource": "wiki:read", "action": "read", "attributes": {"user": {"ip": ip}}})
}

#[test]
fn an_unexpected_answer_fails_the_run() {
    for (expectation, told) in [
        (json!({"expect": {"zone": "guests"}}), "expected zone \"guests\""),
        (json!({"expect": {"zone": null}}), "expected zone absent"),
        (json!({"error": "no address"}), "expected a failure with `no address`, not an answer"),
    ] {
        let mut sample = json!({"name": "a check", "check": check("10.20.0.1")});
        sample.as_object_mut().unwrap().extend(expectation.as_object().unwrap().clone());
        let folder = with_checks(&json!([sample]));
        let done = resolver(&["test"], folder.path());
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.out.contains(told) && done.out.contains("zone  \"clinic\""), "{}", done.out);
        assert!(done.out.ends_with("\n0 passed, 1 failed\n"), "{}", done.out);
    }
    let folder =
        with_checks(&json!([{"name": "a check", "check": check("nowhere"), "error": "memory"}]));
    let done = resolver(&["test"], folder.path());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.out.contains("failed: invalid request: `user.ip` is no address: `nowhere`"),
        "{}",
        done.out
    );
}

#[test]
fn an_invalid_sample_is_named_and_no_sample_runs() {
    let sound = json!([{"name": "a check", "check": check("10.20.0.1")}]);
    for (file, from, to, named) in [
        ("checks.json", "\"name\"", "\"nam\"", "checks.json: at `/0`: field `name` is missing"),
        ("checks.json", "wiki:read", "wiki", "at `/0/check/resource`"),
        ("checks.json", "[{", "[", "checks.json: the text is not valid JSON"),
        ("manifest.json", "\"network\"", "\"user\"", "manifest.json: at `/namespace`: expected"),
        ("manifest.json", "zones", "ranges", "manifest.json: `config` lacks `zones`"),
    ] {
        let folder = with_checks(&sound);
        edit(&folder.path().join(file), from, to);
        let done = resolver(&["test"], folder.path());
        assert_eq!((done.code, &*done.out), (Some(2), ""), "{done:?}");
        assert!(done.err.contains(named), "`{named}` in {}", done.err);
    }
    let folder = with_checks(&json!([]));
    assert_eq!(resolver(&["test"], folder.path()).code, Some(2), "no check is no success");
}

#[test]
fn a_response_that_the_checks_do_not_give_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["hr-directory.wasm", "manifest.json", "checks.json"] {
        std::fs::copy(sample("hr-directory").join(file), folder.path().join(file)).unwrap();
    }
    edit(&folder.path().join("checks.json"), "GET people/Zo%C3%AB", "GET people/Zoe");
    let done = resolver(&["test"], folder.path());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.out.contains(
            "`responses` has no response for `GET people/Zo%C3%AB` of the endpoint `directory`"
        ),
        "{}",
        done.out
    );
}

#[test]
fn endpoints_are_called_for_real_where_the_operator_allows_it() {
    let (dev, _data) = Dev::fresh();
    let folder = tempfile::tempdir().unwrap();
    for file in ["hr-directory.wasm", "manifest.json"] {
        std::fs::copy(sample("hr-directory").join(file), folder.path().join(file)).unwrap();
    }
    let manifest = folder.path().join("manifest.json");
    edit(
        &manifest,
        "https://hr.example.com/api/",
        &format!("http://{}/dev/directory/", dev.address),
    );
    let asked = json!({"subject": "dev-amara", "resource": "wiki:read", "action": "read"});
    let checks =
        json!([{"name": "somebody", "check": asked, "expect": {"department": "engineering"}}]);
    std::fs::write(folder.path().join("checks.json"), checks.to_string()).unwrap();
    let test = |variables: &[(&str, &str)]| {
        let mut command = resolver_command(&["test"], folder.path());
        finished(command.envs(variables.iter().copied()))
    };
    let allowed = [("EGRESS_ALLOW_HTTP", "true"), ("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")];
    assert!(succeeds(&test(&allowed)).contains("groups      [\"on-call\"]"));
    for variables in [&allowed[..1], &allowed[1..]] {
        let done = test(variables);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.err.contains("manifest.json: at `/endpoints/directory/url`"), "{}", done.err);
    }
    edit(&manifest, "the token of the directory", "another token");
    let done = test(&allowed);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.out.contains("failed: unavailable: status 401"), "{}", done.out);
}
