//! The API's own document, turned against the service: schemathesis makes requests from `/openapi.json`, good and
//! bad ones, and judges every answer by what the document promises. It needs Python with pip.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::dev::Dev;
use crate::support::openid::{available, say, skip};
use crate::support::process::repository;

/// The program, installed into a separate environment where that was not done yet.
fn installed() -> Option<PathBuf> {
    if !available("python3") {
        skip("schemathesis needs `python3` with pip");
        return None;
    }
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let requirements = repository().join("tests/schemathesis/requirements.txt");
    let (done, wanted) = (environment.join("installed"), std::fs::read(&requirements).ok());
    if std::fs::read(&done).ok() != wanted {
        say(&format!("installing schemathesis in {}", environment.display()));
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
        let pip = environment.join("bin/pip");
        run(Command::new(pip).args(["install", "--quiet", "--requirement"]).arg(&requirements));
        std::fs::write(done, wanted.expect("the requirements")).expect("a note of that");
    }
    Some(environment.join("bin/schemathesis"))
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_document_and_the_service_agree() {
    // The edges of each schema are thousands of requests for a route whose body has conditions.
    agree("5", "examples,fuzzing,stateful");
}

#[test]
#[ignore = "half an hour: `.ci/long` runs it"]
fn the_document_and_the_service_agree_in_many_examples() {
    agree("50", "examples,coverage,fuzzing,stateful");
}

/// Makes up to this many requests of each kind to each route, in these phases of schemathesis.
fn agree(examples: &str, phases: &str) {
    let Some(schemathesis) = installed() else { return };
    let (dev, _directory) = Dev::fresh();
    let mut command = Command::new(schemathesis);
    command
        .args(["--no-color", "run", "--max-examples", examples, "--phases", phases])
        .arg(format!("http://{}/openapi.json", dev.address))
        .current_dir(repository())
        .stdin(Stdio::null());
    let found = command.output().expect("it starts");
    let report = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{report}\n{}", String::from_utf8_lossy(&found.stderr));
    assert!(report.contains("passed"), "{report}");
}
