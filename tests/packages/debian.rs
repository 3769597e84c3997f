//! The .deb on its own machine with systemd: installed, started, upgraded, removed and purged.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Packages, succeed};
use crate::support::openid::{available, skip};
use crate::support::process::repository;
use crate::support::resolver::guest;

const SYSTEMD: &str = "/lib/systemd/systemd";

/// The beginning of a command that runs in its own namespaces.
fn in_namespaces() -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup"]);
    unshare.args(["--fork", "--kill-child"]).stdin(Stdio::null());
    unshare
}

/// Returns whether this process may make namespaces.
fn has_namespaces() -> bool {
    in_namespaces().arg("true").output().is_ok_and(|output| output.status.success())
}

/// Writes the package again with a higher version, for an upgrade.
fn write_next(package: &Path, directory: &Path) {
    let tree = directory.join("next");
    succeed(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&tree));
    let control = tree.join("DEBIAN/control");
    let text = std::fs::read_to_string(&control).unwrap();
    let current = format!("Version: {}\n", env!("CARGO_PKG_VERSION"));
    std::fs::write(control, text.replace(&current, "Version: 999.0.0\n")).unwrap();
    let mut build = Command::new("dpkg-deb");
    build.args(["-Znone", "--root-owner-group", "--build"]);
    succeed(build.arg(&tree).arg(directory.join("next.deb")));
    std::fs::remove_dir_all(tree).unwrap();
}

#[test]
fn the_package_lives_on_a_machine_with_systemd() {
    let Some(packages) = Packages::shared() else { return };
    if !available(SYSTEMD) || !has_namespaces() {
        return skip("the test of the .deb boots systemd in namespaces, for which it must be root");
    }
    let directory = tempfile::tempdir().unwrap();
    let package = packages.file(".deb");
    let scripts = repository().join("tests/packages");
    std::fs::copy(scripts.join("debian.sh"), directory.path().join("scenario.sh")).unwrap();
    std::fs::copy(&package, directory.path().join("portcullis.deb")).unwrap();
    std::fs::write(directory.path().join("module.wasm"), guest("directory")).unwrap();
    write_next(&package, directory.path());

    let mut machine = in_namespaces();
    machine.arg("sh").arg(scripts.join("machine.sh")).arg(directory.path());
    let done = machine.output().unwrap();
    let log = std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}\n{log}\n{error}", done.status);
    assert!(log.ends_with("\nnothing is left\n"), "the scenario does not end:\n{log}");
}
