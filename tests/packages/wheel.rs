//! The wheel: pip puts the binary among the programs of an environment.

use std::process::Command;
use std::time::Instant;

use super::{Packages, first_decision, serves, succeed};

#[test]
fn pip_installs_runs_and_removes_the_wheel() {
    let Some(packages) = Packages::shared() else { return };
    let (since, directory) = (Instant::now(), tempfile::tempdir().unwrap());
    let environment = directory.path().join("environment");
    let mut make = Command::new("python3");
    succeed(make.args(["-m", "venv", "--without-pip"]).arg(&environment));
    let pip = |action: &str| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]);
        pip.arg(environment.join("bin/python")).arg(action);
        pip
    };
    succeed(pip("install").args(["--no-index", "--no-deps"]).arg(packages.file(".whl")));

    let programs = environment.join("bin");
    let version = format!("portcullis {}", env!("CARGO_PKG_VERSION"));
    // `uvx portcullis-authz` runs the program that has the name of the project.
    for name in ["portcullis", "portcullis-authz"] {
        let shown = succeed(Command::new(programs.join(name)).arg("--version"));
        assert_eq!(shown.trim(), version, "{name}");
    }
    let command = |arguments: &[&str]| {
        let mut command = Command::new(programs.join("portcullis"));
        command.args(arguments);
        command
    };
    first_decision(since, command, directory.path().join("first").to_str().unwrap());
    let mut serve = Command::new(programs.join("portcullis-authz"));
    serve.arg("serve");
    serves(serve, directory.path());

    succeed(pip("uninstall").args(["--yes", "portcullis-authz"]));
    assert!(!programs.join("portcullis").exists());
    assert!(!programs.join("portcullis-authz").exists());
}
