//! Black-box tests of the built server: each file is named after the routes, or the command, that it tests.
//!
//! A test knows what a client knows: it starts the binary and speaks HTTP to it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of it is test code, helpers included"
)]

mod support;

mod authentication;
mod bodies;
mod check;
mod connections;
mod dev;
mod errors;
mod health;
mod legacy_check;
mod permissions;
mod policies;
mod policy_test;
mod process;
mod resources;
mod rules;
