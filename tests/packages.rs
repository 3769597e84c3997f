//! The files that `deploy/release` makes: each is made of the built binary, installed, used and removed.
//!
//! The binary is the one of cargo, which needs this machine's C library; a release is static.

mod debian;
mod image;
mod npm;
mod signature;
mod tarball;
mod wheel;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::once::dev::Dev;
use crate::support::Request;
use crate::support::openid::{available, skip};
use crate::support::process::{Finished, Process, finish, portcullis, repository};

/// The time of the files in the packages, in seconds since 1970.
const EPOCH: &str = "1800000000";

/// The packages of the built binary.
struct Packages {
    directory: TempDir,
    /// The folder of the key that signs them.
    key: TempDir,
}

impl Packages {
    /// The file of the secret key `key`, or of the public key `key.pub`.
    fn key(&self, name: &str) -> PathBuf {
        self.key.path().join(name)
    }

    /// Returns the packages that all tests share. The first call makes them. Returns `None` without Python.
    #[track_caller]
    fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Packages>> = OnceLock::new();
        SHARED.get_or_init(Self::make).as_ref()
    }

    #[track_caller]
    fn make() -> Option<Self> {
        if !available("python3") || !available("dpkg-deb") {
            skip("packages need `python3` and `dpkg-deb`");
            return None;
        }
        let packages =
            Self { directory: tempfile::tempdir().unwrap(), key: tempfile::tempdir().unwrap() };
        let mut new_key = Command::new(repository().join("deploy/release"));
        succeed(new_key.arg("--new-key").arg(packages.key("key")));
        let mut command = package(packages.directory.path(), &["--allow-dynamic"]);
        command.arg("--key").arg(packages.key("key"));
        succeed(&mut command);
        Some(packages)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the one file whose name ends so.
    #[track_caller]
    fn file(&self, ending: &str) -> PathBuf {
        let files = std::fs::read_dir(self.directory.path()).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        let found = paths.find(|path| path.to_string_lossy().ends_with(ending));
        found.unwrap_or_else(|| panic!("no package ends with `{ending}`"))
    }
}

/// The command that packs the built binary.
fn package(out: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg(repository().join("deploy/release")).arg("--quick");
    command.arg("--binary").arg(portcullis(&[]).get_program());
    command.arg("--out").arg(out).args(arguments);
    command.env("SOURCE_DATE_EPOCH", EPOCH).stdin(Stdio::null());
    command
}

/// Runs a command that must succeed.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Starts the service by a command that ends with `serve`, asks whether it is ready, and stops it.
#[track_caller]
fn serves(mut command: Command, directory: &Path) {
    command
        .env("LISTEN_ADDR", "127.0.0.1:0")
        .env("DATABASE_URL", format!("sqlite://{}", directory.join("portcullis.db").display()))
        .env("ENCRYPTION_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
        .env("OIDC_ENABLED", "false")
        .stdin(Stdio::null());
    let mut process = Process::spawn(command);
    let find = |lines: &[String]| lines.iter().find_map(|line| listening(line));
    let Some(address) = process.err.wait_for(find) else {
        panic!("it does not start:\n{}", process.err.text());
    };
    Request::new("GET /healthz/ready").send(address).is(200);
    process.terminate();
    assert_eq!(process.wait().and_then(|status| status.code()), Some(0), "{}", process.err.text());
}

/// Does what a person does first with a command: its version, a folder, its cases, and a decision of `dev`. `folder` is
/// where it may write, and `since` the time before the installation.
#[track_caller]
fn first_decision(since: Instant, command: impl Fn(&[&str]) -> Command, folder: &str) {
    let shown = succeed(&mut command(&["--version"]));
    assert_eq!(shown.trim(), format!("portcullis {}", env!("CARGO_PKG_VERSION")));
    let (tenant, data) = (format!("{folder}/acme"), format!("{folder}/dev"));
    succeed(&mut command(&["init", &tenant, "--resource", "document:read,write"]));
    let tested = succeed(&mut command(&["test", &tenant]));
    assert!(tested.ends_with("8 passed, 0 failed\n"), "{tested}");
    let dev = Dev::new(command(&["dev", &tenant, "--data-dir", &data, "--port", "0"]));
    let check = json!({"subject": "bob", "resource": "document:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(dev.token("bob")).json(&check);
    let answer = request.send(dev.address).is(200).json();
    assert_eq!(answer["decision"], "allow", "{answer}");
    let what = command(&[]).get_program().to_string_lossy().into_owned();
    eprintln!("{what}: the first decision after {:.1} s", since.elapsed().as_secs_f64());
}

fn listening(line: &str) -> Option<SocketAddr> {
    line.split_once("listening on http://")?.1.split_whitespace().next()?.parse().ok()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let Some(packages) = Packages::shared() else { return };
    let again = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    let mut command = package(again.path(), &["--allow-dynamic"]);
    command.arg("--key").arg(packages.key("key"));
    // Another time zone, working directory and umask.
    shell.args(["-c", "umask 077; exec \"$@\"", "sh"]).arg(command.get_program());
    shell.args(command.get_args()).env("SOURCE_DATE_EPOCH", EPOCH).env("TZ", "Asia/Tokyo");
    succeed(shell.current_dir("/"));
    for name in ["SHA256SUMS", "SHA256SUMS.minisig"] {
        let text = |directory: &Path| std::fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(text(again.path()), text(packages.directory.path()));
    }
}

#[test]
fn the_checksums_are_those_of_all_files() {
    let Some(packages) = Packages::shared() else { return };
    let directory = packages.directory.path();
    let mut check = Command::new("sha256sum");
    let checked = succeed(check.args(["--check", "SHA256SUMS"]).current_dir(directory));
    let files = std::fs::read_dir(directory).unwrap().count();
    assert_eq!(checked.lines().count(), files - 2, "{checked}");
}

#[test]
fn the_sbom_has_the_crates_of_the_binary_and_no_others() {
    let Some(packages) = Packages::shared() else { return };
    let document: Value =
        serde_json::from_slice(&std::fs::read(packages.file(".cdx.json")).unwrap()).unwrap();
    let components = document["components"].as_array().unwrap();
    let find = |name: &str| components.iter().find(|it| it["name"] == name);
    let sqlite = find("libsqlite3-sys").expect("the binary contains SQLite");
    assert_eq!(sqlite["licenses"][0]["expression"], "MIT");
    assert_eq!(sqlite["hashes"][0]["content"].as_str().map(str::len), Some(64));
    assert!(find("portcullis-engine").is_some());
    // Tests alone use the first; the second runs in the compiler.
    assert!(find("proptest").is_none() && find("serde_derive").is_none());
    let known = |reference: &Value| {
        *reference == document["metadata"]["component"]["bom-ref"]
            || components.iter().any(|it| it["bom-ref"] == *reference)
    };
    for edges in document["dependencies"].as_array().unwrap() {
        assert!(known(&edges["ref"]), "{edges}");
        assert!(edges["dependsOn"].as_array().unwrap().iter().all(known), "{edges}");
    }
}

#[test]
fn a_binary_that_cannot_be_a_release_is_refused() {
    if Packages::shared().is_none() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let refused = |command: Command, expected: &str| {
        let Finished { code, err, .. } = finish(command);
        assert_eq!(code, Some(1));
        assert!(err.contains(expected), "{err}");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0, "nothing is written");
    };
    // A release that `PORTCULLIS_BIN` names is static.
    if std::env::var_os("PORTCULLIS_BIN").is_none() {
        refused(package(out.path(), &[]), "the binary needs a C library of the system");
    }
    refused(package(out.path(), &["--binary", "/missing"]), "the binary `/missing` does not exist");
    let mut command = package(out.path(), &["--allow-dynamic"]);
    command.env("SOURCE_DATE_EPOCH", "yesterday");
    refused(command, "SOURCE_DATE_EPOCH is `yesterday`");
}
