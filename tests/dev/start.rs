//! The start of `portcullis dev`: one process for each data directory, and the port to listen on.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use super::{Dev, command, paste};
use crate::support::process::{Finished, finish};

fn with_port(directory: &Path, port: &str) -> Command {
    let mut command = command(directory, "127.0.0.1:1");
    command.args(["--port", port]);
    command
}

/// Asserts that the start failed with one line, and returns it.
#[track_caller]
fn one_line(done: &Finished) -> &str {
    assert_eq!((done.code, &*done.out), (Some(1), ""), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    &done.err
}

#[test]
fn a_second_process_does_not_share_a_data_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Dev::start(directory.path(), "127.0.0.1:0");
    let done = finish(with_port(directory.path(), "0"));
    let named =
        format!("another `portcullis` uses the data directory `{}`", directory.path().display());
    let line = one_line(&done);
    assert!(line.contains(&named) && line.contains("--data-dir DIR --port N"), "{line}");
    let elsewhere = tempfile::tempdir().unwrap();
    drop(Dev::new(with_port(elsewhere.path(), "0")));
    // The first process still serves, and its lock ends with it, without any chance to clean up.
    paste(&first.demos()[0].1);
    first.process.kill();
    assert!(directory.path().join("portcullis.db-lock").exists());
    Dev::new(with_port(directory.path(), "0")).stop();
}

#[test]
fn the_port_of_the_command_line_stands_in_place_of_that_of_the_address() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let directory = tempfile::tempdir().unwrap();
    let done = finish(with_port(directory.path(), &port.to_string()));
    let line = one_line(&done);
    let expected = format!("cannot listen on `127.0.0.1:{port}`; give another port with --port N");
    assert!(line.contains(&expected) && line.contains("in use"), "{line}");
    drop(taken);
    let dev = Dev::new(with_port(directory.path(), &port.to_string()));
    assert_eq!(dev.address.port(), port);
    for (answer, command) in dev.demos() {
        assert!(command.contains(&format!("http://127.0.0.1:{port}/")), "{command}");
        assert_eq!(paste(&command), answer, "{command}");
    }
    for bad in ["65536", "http"] {
        let done = finish(with_port(directory.path(), bad));
        assert!(done.code == Some(2) && done.err.contains("--port"), "{bad}: {done:?}");
    }
}
