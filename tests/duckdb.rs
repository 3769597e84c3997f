//! The sealed record in the hands of another program: DuckDB runs the statements of `docs/operations.md`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::packages::from_pypi;
use crate::support::process::repository;
use crate::support::{Provider, Server, Settings, Tenant};

/// The files of the document.
const PRINTED_FILES: &str = "'/var/lib/decisions/*/*/*.parquet'";

/// Python with DuckDB.
struct Python(PathBuf);

impl Python {
    /// Installs DuckDB. `None` where that cannot be done.
    fn with_duckdb() -> Option<Self> {
        Some(Self(from_pypi("duckdb", "tests/duckdb")?.join("venv/bin/python")))
    }

    /// Runs a program of `tests/duckdb` with `input`, and returns the lines of JSON that it prints.
    #[track_caller]
    fn run(&self, program: &str, arguments: &[&Path], input: &str) -> Vec<Value> {
        let mut command = Command::new(&self.0);
        command.arg(repository().join("tests/duckdb").join(program)).args(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let out = String::from_utf8(ended.stdout).unwrap();
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the rows of the last statement over `files`, written as an expression of SQL.
    #[track_caller]
    fn ask(&self, files: &str, statements: &[&str]) -> Value {
        let text = statements.join("\n");
        assert!(text.contains(PRINTED_FILES), "{text}");
        self.run("ask.py", &[], &text.replace(PRINTED_FILES, files)).pop().unwrap()
    }
}

/// The statements of the document: the view, decisions by effect, denials by an attribute, and the files of the manifest.
fn printed() -> [String; 4] {
    let document = std::fs::read_to_string(repository().join("docs/operations.md")).unwrap();
    let section = document.split("\n## The record of decisions in other programs\n").nth(1);
    let section = section.unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```sql\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect::<Vec<_>>().try_into().expect("four blocks")
}

fn check(tenant: &Tenant<'_>, subject: &str, ward: &str) {
    let body = json!({
        "subject": subject, "resource": "doc:read", "action": "read",
        "attributes": {"user": {"ward": ward}},
    });
    tenant.check(&body).is(200);
}

fn tenant_of(server: &Server, name: &str) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), name)
}

#[test]
fn duckdb_counts_what_was_answered() {
    let Some(python) = Python::with_duckdb() else { return };
    let [view, by_decision, by_ward, _] = printed();
    let settings = Settings::new(Provider::shared()).recording();
    let server = settings.start();
    let (tenant, other) = (tenant_of(&server, "acme"), tenant_of(&server, "other"));
    tenant.rule("alice", "doc:read", "read", "allow");
    for (subject, ward) in [("alice", "er"), ("bob", "er"), ("bob", "icu"), ("carl", "er")] {
        check(&tenant, subject, ward);
        check(&other, subject, "of the neighbour");
    }
    let none = json!({"bundle": {"settings": {"decision_log": {"allows": 0}}}, "owner": "test"});
    tenant.manage("POST /api/v1/apply", &none).is(200);
    for _ in 0..5 {
        check(&tenant, "alice", "er");
    }
    assert!(server.stop().success());

    let files = format!("'{}/*/*/*.parquet'", settings.path("decisions").display());
    // Five of the six allows are left out, and counted.
    assert_eq!(
        python.ask(&files, &[&view, &by_decision]),
        json!([["allow", 1, 6], ["deny", 3, 3]])
    );
    assert_eq!(python.ask(&files, &[&view, &by_ward]), json!([["er", 2], ["icu", 1]]));
    let total = "SELECT tenant, count(*) FROM decisions WHERE left_out IS NULL GROUP BY tenant ORDER BY tenant;";
    assert_eq!(python.ask(&files, &[&view, total]), json!([["acme", 4], ["other", 4]]));
}

#[test]
fn duckdb_reads_no_erased_record_in_the_files_of_the_manifest() {
    let Some(python) = Python::with_duckdb() else { return };
    let [view, by_decision, _, manifest] = printed();
    let settings = Settings::new(Provider::shared()).recording();
    let server = settings.start();
    let tenant = tenant_of(&server, "acme");
    let erase = |subject: &str| {
        let route = format!("DELETE /api/v1/decisions?subject={subject}");
        tenant.manage(route, &json!(null)).is(200).json()
    };
    for subject in ["ann", "bob", "carl", "bob"] {
        check(&tenant, subject, "er");
    }
    // The first erasure seals all records but that person's. The second one replaces the file.
    assert_eq!(erase("ann"), json!({"erased": 1}));
    assert_eq!(erase("bob"), json!({"erased": 2}));
    assert!(server.stop().success());

    let rows = python.run("manifest.py", &[&settings.path("portcullis.db")], &manifest).remove(0);
    let folder = settings.path("decisions");
    let path = |row: &Value| format!("'{}/{}'", folder.display(), row[0].as_str().unwrap());
    let files: Vec<String> = rows.as_array().unwrap().iter().map(path).collect();
    let files = format!("[{}]", files.join(", "));
    assert_eq!(python.ask(&files, &[&view, &by_decision]), json!([["deny", 1, 1]]));
    let who = "SELECT subject FROM decisions;";
    assert_eq!(python.ask(&files, &[&view, who]), json!([["carl"]]));
}

#[test]
fn duckdb_reads_whole_records_of_checks_that_share_attributes() {
    let Some(python) = Python::with_duckdb() else { return };
    let [view, ..] = printed();
    let settings = Settings::new(Provider::shared()).recording();
    let server = settings.start();
    let tenant = tenant_of(&server, "acme");
    let context: serde_json::Map<_, _> =
        (0..30).map(|number| (format!("a{number}"), json!("x".repeat(40_000)))).collect();
    let batch = json!({
        "resource": "doc:read", "action": "read", "attributes": {"user": {"ward": "er"}, "context": context},
        "checks": (0..20).map(|number| json!({"subject": format!("user-{number}")})).collect::<Vec<_>>(),
    });
    tenant.manage("POST /api/v1/checks", &batch).is(200);
    check(&tenant, "alone", "icu");
    assert!(server.stop().success());

    let files = format!("'{}/*/*/*.parquet'", settings.path("decisions").display());
    let whole = "SELECT attributes->>'$.user.ward' AS ward, count(DISTINCT subject), \
        min(length(attributes->>'$.context.a29')) FROM decisions GROUP BY ward ORDER BY ward;";
    assert_eq!(python.ask(&files, &[&view, whole]), json!([["er", 20, 40_000], ["icu", 1, null]]));
}
