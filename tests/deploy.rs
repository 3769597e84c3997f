//! The files of `deploy/` for Prometheus, Grafana and Kubernetes.

#[path = "deploy/kubernetes.rs"]
mod kubernetes;
#[path = "deploy/monitoring.rs"]
mod monitoring;

use std::path::PathBuf;

use serde_json::Value;

use crate::once::installed::installed;
use crate::support::openid::{available, skip};
use crate::support::process::repository;

/// The programs of the packages that judge these files; `None` where they cannot be installed.
fn programs() -> Option<PathBuf> {
    if !available("python3") {
        skip("the judges of `deploy/` need `python3` with pip");
        return None;
    }
    let pip = ["venv/bin/pip", "install", "--quiet", "-r", "requirements.txt"];
    let venv = ["python3", "-m", "venv", "--clear", "venv"];
    let source = repository().join("tests/deploy");
    Some(installed(&source, "deploy", "requirements.txt", &[&venv, &pip]).join("venv/bin"))
}

/// The text of a file of the repository.
fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// A file of the repository with one document.
fn document(path: &str) -> Value {
    serde_saphyr::from_str(&text(path)).expect("YAML")
}
