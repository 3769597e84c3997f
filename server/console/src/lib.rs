//! The console: pages that show what the service decides and why (`docs/semantics.md`, section 19).
//!
//! A page is a handler that takes a [`Visit`](visit::Visit). It calls the use case that the route of the API calls, which
//! judges the rights, and writes its template into the frame. What may take long is streamed: the frame leaves first.

mod access;
mod address;
mod ask;
mod assets;
mod changes;
mod conditions;
mod cookies;
mod csv;
mod decision;
mod decisions;
mod fields;
mod forms;
mod frame;
mod headers;
mod links;
mod lists;
mod me;
mod next;
mod outcomes;
mod pages;
mod permission_table;
mod policies;
mod policy;
mod problem;
mod proposals;
mod proved;
mod question;
mod routes;
mod rule_names;
mod sessions;
mod sign_in;
mod sign_out;
mod stranger;
mod theme;
mod times;
mod visit;

pub use routes::{all, rows};
