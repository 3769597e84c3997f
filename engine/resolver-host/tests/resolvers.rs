//! The host of resolvers, held against real components, most of them hostile.
//!
//! The components are those of `tests/guests`, built for WebAssembly by the first test that needs one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in tests, also in the functions that they share"
)]

mod resolvers {
    mod admission;
    mod calls;
    mod compiled;
    mod failures;
    mod isolation;
    mod support;
}
