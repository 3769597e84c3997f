//! The files of `deploy/` for Compose, Kubernetes, Prometheus, Grafana and the forge.

#[path = "deploy/compose.rs"]
mod compose;
#[path = "deploy/forge.rs"]
mod forge;
#[path = "deploy/kubernetes.rs"]
mod kubernetes;
#[path = "deploy/monitoring.rs"]
mod monitoring;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::packages::from_pypi;
use crate::support::process::{finish, repository};

/// The programs of the packages that judge these files; `None` where they cannot be installed.
fn programs() -> Option<PathBuf> {
    Some(from_pypi("deploy", "tests/deploy")?.join("venv/bin"))
}

/// The text of a file of the repository.
fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// A file of the repository with one document.
fn document(path: &str) -> Value {
    serde_saphyr::from_str(&text(path)).expect("YAML")
}

/// Asserts that a file follows an official schema of this name, and that another one of these words does not.
#[track_caller]
fn follows(bin: &Path, schema: &str, path: &str, wrong: (&str, &str)) {
    let judged = |path: &Path| {
        let mut judge = Command::new(bin.join("check-jsonschema"));
        judge.args(["--builtin-schema", schema]).arg(path).stdin(Stdio::null());
        finish(judge)
    };
    let done = judged(&repository().join(path));
    assert_eq!(done.code, Some(0), "{path}: {}{}", done.out, done.err);
    let directory = tempfile::tempdir().unwrap();
    let changed = directory.path().join("changed.yml");
    let text = text(path);
    assert!(text.contains(wrong.0), "{path} has no `{}`", wrong.0);
    std::fs::write(&changed, text.replace(wrong.0, wrong.1)).unwrap();
    assert_eq!(judged(&changed).code, Some(1), "{path} with `{}` follows it, too", wrong.1);
}
