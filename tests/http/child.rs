//! This binary as a child process.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::LOAD;
use crate::load::{Load, Measured};

/// Sends a load from another process.
pub(crate) fn send(load: &Load) -> Measured {
    let mut command = command(LOAD);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the load starts");
    let text = serde_json::to_vec(load).expect("JSON");
    child.stdin.take().expect("its input").write_all(&text).expect("it reads its input");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "the load failed");
    serde_json::from_slice(&done.stdout).expect("its measurements")
}

/// Returns the command of this binary in another role.
pub(crate) fn command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.arg(role);
    command
}
