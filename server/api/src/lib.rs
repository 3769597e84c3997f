//! The HTTP interface. Wire types and handlers are in one file per resource.
//!
//! The parameters of a handler say what it needs: the right of the caller (`CheckRequester`, `TenantManager`,
//! `Allowed`), and the body. axum extracts them in order, so that faults are reported in the order of
//! `docs/semantics.md`, section 8.5: route, method, size, credential, right, query, content type, body, record. A handler
//! extracts, parses, calls one use case of `portcullis-operations`, and answers. Its `#[utoipa::path]` describes it to
//! clients; `openapi.rs` makes the API document from all of them.

mod accept;
mod admin;
mod allowed_methods;
mod answer_text;
mod apply;
mod audit;
mod authzen;
mod authzen_paths;
mod batch;
mod body;
mod body_budget;
mod callers;
mod checks;
mod completion;
mod credential;
mod deadline;
mod decisions;
mod docs;
mod drafts;
mod entities;
mod error;
mod etag;
mod event_stream;
mod explain;
mod filters;
mod force;
mod handler_parameters;
mod health;
mod home;
mod large_bodies;
mod lent_body;
mod limits;
mod line_stream;
pub mod listener;
mod live_credential;
mod live_events;
mod loopback;
mod managed_domain;
mod metrics;
mod no_credential;
mod openapi;
mod paging;
mod parameters;
mod path;
mod peer;
mod permissions;
mod policies;
mod proposals;
mod query;
mod rate_answer;
mod raw_body;
mod recipient;
mod relations;
mod replays;
mod request_context;
mod request_id;
mod resolvers;
mod resources;
mod respond;
mod revisions;
mod roles;
mod route_facts;
mod route_set;
mod routes;
mod row;
mod rules;
mod search;
mod sent_credential;
mod service;
mod service_keys;
mod text_answer;
mod types;
mod upload;
mod webhooks;

pub use body_budget::BodyBudget;
pub use checks::answer_text;
pub use home::{PageLink, with_link};
pub use loopback::only_loopback;
pub use route_set::RouteSet;
pub use routes::{finish, router, routes};
pub use service::HttpService;

use parameters::{digits, parameter};
use respond::revision_header;
