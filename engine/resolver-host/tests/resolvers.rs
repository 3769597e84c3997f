//! Tests the host with real components, most of them hostile.
//!
//! The components are those of `tests/guests`. The first test that needs one builds all of them for WebAssembly.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in tests, also in the functions that they share"
)]

mod resolvers {
    mod admission;
    mod calls;
    mod compiled;
    mod compiler;
    mod failures;
    mod isolation;
    mod no_endpoints;
    mod support;
}
