//! The tests of the engine through its public route. They are one program, so that what they share is compiled once and a long
//! test leaves no core idle. `weight.rs` counts the bytes of the heap, and is a program of its own.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot build its input has failed"
)]

mod analysis;
mod batch_buffer;
mod casbin;
mod changes;
mod check_buffer;
mod datetimes;
mod during;
mod effort;
mod forms;
mod indexed;
mod items;
mod matrix;
mod named;
mod named_parts;
mod operators;
mod properties;
mod references;
mod relations;
mod scenarios;
mod search;
mod support;
mod two_stages;
mod validation;
mod worlds;
mod would_allow;
