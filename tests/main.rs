//! Black-box tests of the built server: each file is named after the routes, or the command, that it tests.
//!
//! A test knows `interface.md`-level behaviour alone: it starts the binary and speaks HTTP to it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of it is test code, helpers included"
)]

mod support;

mod health;
