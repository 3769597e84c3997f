//! Signals, and standard error that is not read.

use std::process::Command;

use crate::support::{Provider, Request, Settings};

/// Settings of a service that logs everything.
fn talkative() -> Settings {
    Settings::new(Provider::shared()).set("RUST_LOG", "trace")
}

/// Asks a process to stop.
fn terminate(process: u32) {
    assert!(Command::new("kill").arg(process.to_string()).status().unwrap().success());
}

#[test]
fn a_log_whose_reader_is_gone_ends_nothing() {
    let (mut process, log, address) = talkative().start_unread();
    drop(log);
    for _ in 0..50 {
        Request::new("GET /healthz/live").send(address).is(200);
    }
    terminate(process.id());
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_that_nobody_reads_holds_nothing_up() {
    let (mut process, log, address) = talkative().start_unread();
    // More lines than a pipe takes.
    for _ in 0..500 {
        Request::new("GET /healthz/live").send(address).is(200);
    }
    terminate(process.id());
    assert_eq!(process.wait().unwrap().code(), Some(0));
    drop(log);
}

#[test]
fn a_hangup_without_a_certificate_does_nothing() {
    let mut server = Settings::new(Provider::shared()).start();
    for _ in 0..2 {
        server.process.signal("HUP");
    }
    let told = |lines: &[String]| lines.iter().find(|line| line.contains("SIGHUP")).map(drop);
    server.process.err.wait_for(told).expect("the log says that it does nothing");
    Request::new("GET /healthz/live").send(server.address).is(200);
    server.process.terminate();
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}
