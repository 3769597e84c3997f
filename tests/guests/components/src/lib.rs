//! The components are the examples.
