//! This binary as a child process.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::load::{Load, Measured};
use crate::{ECHO, LOAD};

/// A running echo, killed when it is dropped.
pub(crate) struct Echo {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let mut child = command(ECHO).stdout(Stdio::piped()).spawn().expect("the echo starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().parse().expect("an address");
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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

fn command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.arg(role);
    command
}
