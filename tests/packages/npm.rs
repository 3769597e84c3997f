//! The npm packages: the launcher finds the binary of the platform and passes everything on.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::{Packages, first_decision, serves, succeed};
use crate::support::openid::{available, skip};
use crate::support::process::finish;

/// npm in its own folder, without the network.
fn npm(directory: &Path, arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(arguments).args(["--offline", "--no-audit", "--no-fund"]);
    // npm would look for a package in the folders above.
    npm.arg("--prefix").arg(directory).current_dir(directory);
    npm
}

#[test]
fn npm_installs_runs_and_removes_the_packages() {
    let Some(packages) = Packages::shared() else { return };
    if !available("npm") || !available("node") {
        return skip("npm packages need `node` and `npm`");
    }
    let (since, directory) = (Instant::now(), tempfile::tempdir().unwrap());
    let version = env!("CARGO_PKG_VERSION");
    let mut install = npm(directory.path(), &["install"]);
    for name in ["portcullis", "portcullis-linux-x64"] {
        install.arg(packages.path(&format!("{name}-{version}.tgz")));
    }
    succeed(&mut install);
    let launcher = directory.path().join("node_modules/.bin/portcullis");

    let shown = succeed(&mut npm(directory.path(), &["exec", "--", "portcullis", "--version"]));
    assert_eq!(shown.trim(), format!("portcullis {version}"));
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&launcher);
        command.args(arguments);
        command
    };
    first_decision(since, command, directory.path().join("first").to_str().unwrap());
    // The exit code passes through, and a signal reaches the service.
    let mut wrong = Command::new(&launcher);
    wrong.arg("no-such-command");
    assert_eq!(finish(wrong).code, Some(2));
    let mut serve = Command::new(&launcher);
    serve.arg("serve");
    serves(serve, directory.path());

    // Without the package of the platform the launcher says what is missing.
    let platform = directory.path().join("node_modules/portcullis-linux-x64");
    std::fs::remove_dir_all(platform).unwrap();
    let alone = finish(Command::new(&launcher));
    assert_eq!(alone.code, Some(1));
    assert!(alone.err.contains("portcullis-linux-x64 is not installed"), "{}", alone.err);
    let names = ["uninstall", "portcullis", "portcullis-linux-x64"];
    succeed(&mut npm(directory.path(), &names));
    assert!(!launcher.exists());
}
