//! Compares graphs with an oracle on random types and tuples.

#![expect(clippy::expect_used, reason = "a test that cannot build its input has failed")]

mod checks;
mod explanations;
mod lists;
mod naive;
mod world;
