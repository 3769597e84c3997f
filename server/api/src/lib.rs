//! The HTTP interface. Wire types and handlers are in one file per resource.
//!
//! The parameters of a handler say what it needs: the right of the caller (`CheckRequester`, `TenantManager`,
//! `Allowed`), and the body. axum extracts them in order, so that faults are reported in the order of
//! `docs/semantics.md`, section 8.5: route, method, size, credential, right, query, content type, body, record. A handler
//! extracts, parses, calls one use case of `portcullis-operations`, and answers. Its `#[utoipa::path]` describes it to
//! clients; `openapi.rs` makes the API document from all of them.

mod admin;
mod apply;
mod audit;
mod authzen;
mod batch;
mod checks;
mod conditions;
mod decisions;
mod docs;
mod drafts;
mod entities;
mod explain;
mod filters;
mod health;
mod home;
mod line_stream;
mod metrics;
mod openapi;
mod permissions;
mod policies;
mod proposals;
mod relations;
mod replays;
mod resolvers;
mod resources;
mod revisions;
mod roles;
mod route_set;
mod routes;
mod rules;
mod search;
mod service_keys;
mod types;
mod webhooks;

pub use checks::answer_text;
pub use home::{PageLink, with_link};
pub use route_set::RouteSet;
pub use routes::{finish, router, routes, table_of};
