//! The AuthZEN Authorization API 1.0 (`docs/semantics.md`, section 11.5).
//!
//! These routes follow the standard: they ignore unknown members and query parameters, take a service key as a bearer
//! token, and answer 400 to a body of another type.

mod answer;
mod body;
pub(crate) mod discovery;
mod document;
mod entity;
pub(crate) mod evaluation;
pub(crate) mod evaluations;
mod flatten;
mod names;
mod options;
mod properties;
mod question;
mod scope;
pub(crate) mod search;
mod search_body;
mod topic;
