//! `portcullis bench`: the cost of decisions on a tenant's own rules. No test asserts a measured time.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::process::{Finished, finish, portcullis, repository};

fn hospital() -> PathBuf {
    repository().join("policies/hospital")
}

/// Runs it in `folder` for a very short time.
fn bench(folder: &Path, arguments: &[&str]) -> Finished {
    let mut command = portcullis(&["bench", "--seconds", "0.2"]);
    command.current_dir(folder).args(arguments);
    finish(command)
}

/// Runs it, and returns the JSON report and the page.
fn report(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let files = ["--json", "report.json", "--html", "report.html"];
    let done = bench(folder, &[arguments, &files].concat());
    assert_eq!((done.code, &*done.err), (Some(0), ""), "{}", done.out);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    (serde_json::from_str(&read("report.json")).unwrap(), read("report.html"))
}

fn texts<'v>(list: &'v Value, member: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|item| item[member].as_str().unwrap_or("-")).collect()
}

/// Panics unless every element is closed in order, attributes are quoted, and the page loads nothing.
fn assert_sound(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    for outside in ["http:", "https:", "//", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "the page has `{outside}`");
    }
    let mut open = Vec::new();
    for tag in page.split('<').skip(2) {
        let (tag, text) = tag.split_once('>').expect("every tag ends");
        assert!(!text.contains('>'), "`{text}` is not escaped");
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "</{closed}>"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split_whitespace().next().unwrap()),
        }
    }
    assert_eq!(open, [""; 0]);
    let plots = page.matches("role=\"img\"").count();
    assert_eq!(plots, 3);
    assert!(page.matches("<table>").count() >= plots, "each has its table");
    assert_eq!(page.matches("-title\">").count(), plots, "each has its title");
}

#[test]
fn a_folder_is_measured_in_memory_and_from_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = hospital();
    let (report, page) = report(folder.path(), &[path.to_str().unwrap(), "--scratch", "sqlite"]);

    let tenant = &report["tenants"][0];
    assert_eq!(tenant["tenant"], "hospital");
    let rules = tenant["rules"].as_u64().unwrap() + tenant["policies"].as_u64().unwrap();
    assert_eq!(tenant["deciding"], rules, "each decides a check: {tenant}");
    let sources =
        ["-", "-", "memory", "memory", "sqlite, temporary file", "sqlite, temporary file"];
    assert_eq!(texts(&report["answers"], "source"), sources);
    let ways = ["hit", "get", "miss", "no_cache", "miss", "no_cache"];
    assert_eq!(texts(&report["answers"], "way"), ways);
    let latencies = report["answers"].as_array().unwrap().iter().map(|answer| &answer["latency"]);
    for latency in latencies.chain([&report["compile"]]) {
        assert!(latency["samples"].as_u64().unwrap() > 0, "{latency}");
        let names = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"];
        let percentiles = names.map(|name| latency[name].as_u64().unwrap());
        assert!(percentiles.is_sorted(), "{latency}");
        assert!(!latency["curve"].as_array().unwrap().is_empty());
    }
    for row in report["throughput"].as_array().unwrap() {
        assert!(row["per_second"].as_f64().unwrap() > 0.0);
    }
    let bytes = |plan: &Value| plan["bytes"].as_u64().unwrap();
    let plans = report["plans"].as_array().unwrap();
    assert_eq!(plans.len() as u64, tenant["resources"].as_u64().unwrap());
    assert_eq!(plans.iter().map(bytes).sum::<u64>(), report["memory"]["total_bytes"]);
    assert!(plans.iter().all(|plan| bytes(plan) > 0));
    assert_eq!(report["differing"], serde_json::json!([]));
    // The binary has the build of the tests.
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    assert_eq!(report["build"], build);
    assert_eq!(page.contains("WARNING: this is a debug build"), build == "debug");
    assert_sound(&page);

    // The decisions are those of `portcullis test`.
    let mut command = portcullis(&["test"]);
    command.arg(&path);
    let tested = finish(command);
    let passed: Vec<&str> =
        tested.out.lines().filter_map(|line| line.strip_prefix("  ok      ")).collect();
    let cases = &report["cases"];
    assert_eq!(texts(cases, "name"), passed);
    assert!(cases.as_array().unwrap().iter().all(|case| case["as_expected"] == true), "{cases}");
    let outcomes = report["outcomes"].as_array().unwrap().iter();
    let decided: u64 = outcomes.map(|outcome| outcome["checks"].as_u64().unwrap()).sum();
    assert_eq!(report["checks"]["count"], decided);
    assert_eq!(report["checks"]["cases"], passed.len());
}

#[test]
fn a_case_with_another_decision_is_noted() {
    let folder = copy_of_hospital();
    let cases = folder.path().join("cases.yaml");
    let text = std::fs::read_to_string(&cases).unwrap();
    std::fs::write(&cases, text.replacen("decision: allow", "decision: deny", 1)).unwrap();
    let (report, page) = report(folder.path(), &["."]);
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.iter().filter(|case| case["as_expected"] == false).count(), 1);
    assert!(page.contains("1 cases do not get the expected decision"));
}

fn copy_of_hospital() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&hospital(), folder.path());
    for resolver in ["business-hours", "network-zone"] {
        let (from, to) =
            (Path::new("policies/resolvers").join(resolver), Path::new("resolvers").join(resolver));
        std::fs::create_dir_all(folder.path().join(&to)).unwrap();
        copy(&repository().join(from), &folder.path().join(to));
    }
    folder
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if file.path().is_file() {
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}

#[test]
fn tenants_of_a_folder_are_measured_together_and_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let tenants = repository().join("policies");
    let (report, page) = report(folder.path(), &[tenants.to_str().unwrap()]);
    assert_eq!(
        texts(&report["tenants"], "tenant"),
        ["drive", "helpdesk", "hospital", "projects", "software-shop", "todo"]
    );
    assert_sound(&page);
    let odd = copy_of_hospital();
    for (file, from, to) in [
        ("tenant.yaml", "tenant: hospital", "tenant: \"<b>&'x\""),
        ("cases.yaml", ", hospital,", ", <b>&'x,"),
    ] {
        let path = odd.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(from, to)).unwrap();
    }
    let (_, page) = self::report(odd.path(), &["."]);
    assert_sound(&page);
}

#[test]
fn a_database_is_measured_and_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = hospital();
    let url = "sqlite://hospital.db";
    let (stored, _) = report(folder.path(), &[path.to_str().unwrap(), "--scratch", url]);
    let file = folder.path().join("hospital.db");
    let before = std::fs::read(&file).unwrap();

    // By its URL, and by DATABASE_URL.
    let (named, _) = report(folder.path(), &["--tenant", "hospital", "--database", url]);
    assert_eq!(named["tenants"][0]["rules"], stored["tenants"][0]["rules"]);
    assert_eq!(texts(&named["answers"], "source"), ["-", "-", url, url]);
    let mut command = portcullis(&["bench", "--tenant", "hospital", "--seconds", "0.1"]);
    command.current_dir(folder.path()).env("DATABASE_URL", url);
    assert_eq!(finish(command).code, Some(0));

    // A folder and a database decide alike, until the folder changes.
    let changed = copy_of_hospital();
    let copied = changed.path().to_str().unwrap();
    let (same, _) = report(folder.path(), &[copied, "--database", url]);
    assert_eq!(same["differing"], serde_json::json!([]));
    let policies = changed.path().join("policies.yaml");
    let text = std::fs::read_to_string(&policies).unwrap();
    std::fs::write(&policies, text.replace("priority: 1000", "priority: 1")).unwrap();
    let (other, page) = report(folder.path(), &[copied, "--database", url]);
    assert_eq!(other["differing"][0]["source"], url);
    assert!(page.contains("its rules differ"));
    assert_eq!(std::fs::read(&file).unwrap(), before, "the database is as it was");

    // A database that is not empty is not filled.
    let done = bench(folder.path(), &[copied, "--scratch", url]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.contains("expected an empty database, but it has tables"), "{}", done.err);
    let done = bench(folder.path(), &["--tenant", "hotel", "--database", url]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.ends_with("there is no tenant `hotel`"), "{}", done.err);
}

#[test]
fn a_database_without_the_schema_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let tenant = ["--tenant", "hospital", "--database"];
    let done = bench(folder.path(), &[&tenant[..], &["sqlite://nowhere.db"]].concat());
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(!folder.path().join("nowhere.db").exists());
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    let done = bench(folder.path(), &[&tenant[..], &["sqlite://empty.db"]].concat());
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.contains("no Portcullis schema"), "{}", done.err);
    assert_eq!(std::fs::read(folder.path().join("empty.db")).unwrap(), b"");
    let done = bench(folder.path(), &[&tenant[..], &["mysql://x"]].concat());
    assert_eq!(done.code, Some(2), "{}", done.err);
}

const CHECK: &str = r#"{"subject": "patient-4711", "resource": "handbook:read", "action": "read"}"#;

#[test]
fn checks_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    // A sample user with the roles of the token, a subject with roles, and an unknown subject.
    let prescribing =
        r#"{"subject": "kaya-agency", "resource": "prescription:read", "action": "read"}"#;
    let supplied = r#"{"subject": "x", "resource": "roster:read", "action": "read", "attributes": {"user": {"roles": ["admin"]}}}"#;
    let unknown = r#"{"subject": "x", "resource": "nothing:known", "action": "read"}"#;
    let lines = [CHECK, "", prescribing, supplied, unknown, ""].join("\n");
    std::fs::write(folder.path().join("checks.jsonl"), lines).unwrap();
    let path = hospital();
    let (report, _) = report(folder.path(), &[path.to_str().unwrap(), "--checks", "checks.jsonl"]);
    assert_eq!((&report["checks"]["replayed"], &report["seed"]), (&4.into(), &Value::Null));
    assert_eq!(texts(&report["outcomes"], "decision"), ["allow", "deny", "deny"]);
    assert_eq!(texts(&report["outcomes"], "by"), ["rule", "default", "rule"]);
    assert_eq!(report["outcomes"][0]["checks"], 2);
}

#[test]
fn an_unusable_argument_is_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = hospital();
    let path = path.to_str().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("syntax", &format!("{CHECK}\n{{\"subject\"\n"));
    write("field", &format!("{CHECK}\n\n{}\n", CHECK.replace("action", "acton")));
    write("type", &CHECK.replace("\"read\"}", "1}"));
    write("empty", "\n\n");
    for (arguments, told) in [
        (&[path, "--checks", "syntax"][..], "syntax:2: the text is not valid JSON"),
        (&[path, "--checks", "field"], "field:3: "),
        (&[path, "--checks", "type"], "type:1: at `/action`: expected "),
        (&[path, "--checks", "empty"], "empty: contains no check"),
        (&[path, "--checks", "missing"], "missing: cannot be read: "),
        (&["nowhere"], "nowhere: cannot be read: "),
        (&["."], "expected a tenant folder or a folder of tenant folders"),
        (&[path, "--json", "no/such/folder.json"], "no/such/folder.json: cannot be written: "),
        (&[path, "--env-file", "missing"], "--env-file: expected a file of NAME=value lines"),
    ] {
        let done = bench(folder.path(), arguments);
        assert_eq!((done.code, &*done.out), (Some(2), ""), "{}", done.err);
        assert!(done.err.starts_with("portcullis: ") && done.err.contains(told), "{}", done.err);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    }
    // These arguments are refused by clap.
    for arguments in [&[][..], &[path, "--tenant", "x"], &[path, "--seconds", "0"]] {
        assert_eq!(bench(folder.path(), arguments).code, Some(2), "{arguments:?}");
    }
    let empty = copy_of_hospital();
    for file in ["rules.yaml", "policies.yaml", "resources.yaml", "cases.yaml"] {
        std::fs::write(empty.path().join(file), "[]\n").unwrap();
    }
    let done = bench(empty.path(), &["."]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.contains("there is no check to measure"), "{}", done.err);
}
