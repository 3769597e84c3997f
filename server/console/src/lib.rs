//! The console: pages that show what the service decides and why (`docs/semantics.md`, section 19).
//!
//! A page is a handler that takes a [`Visit`](visit::Visit). It calls the use case that the route of the API calls, which
//! judges the rights, and writes its template into the frame. What may take long is streamed: the frame leaves first.

mod address;
mod assets;
mod cookies;
mod decision;
mod decisions;
mod forms;
mod frame;
mod headers;
mod links;
mod me;
mod pages;
mod problem;
mod routes;
mod sessions;
mod sign_in;
mod sign_out;
mod theme;
mod times;
mod visit;

pub use routes::{all, rows};
