//! The parts of an HTTP interface: the listener, the service around every request, rows of a route table, extractors of
//! callers, bodies and parameters, answers and the memory that they take, wire errors.
//!
//! A face, such as `portcullis-api`, has the table and the handlers. The parameters of a handler say what it needs: the
//! right of the caller (`CheckRequester`, `TenantManager`, `Allowed`), and the body. axum extracts them in order, so that
//! faults are reported in the order of `docs/semantics.md`, section 8.5: route, method, size, credential, right, query,
//! content type, body, record.

pub mod accept;
mod allowed_methods;
pub mod answer_text;
pub mod authzen_paths;
pub mod body;
pub mod body_budget;
pub mod callers;
mod completion;
mod credential;
pub mod deadline;
pub mod decision_events;
pub mod decision_query;
pub mod error;
pub mod etag;
pub mod event_stream;
pub mod force;
pub mod form_body;
pub mod handler_parameters;
mod large_bodies;
mod lent_body;
mod limits;
pub mod listener;
pub mod live_credential;
pub mod live_events;
mod loopback;
pub mod managed_domain;
mod no_credential;
pub mod page_stream;
pub mod paging;
pub mod parameters;
pub mod path;
mod peer;
pub mod query;
mod rate_answer;
mod raw_body;
pub mod recipient;
pub mod request_context;
pub mod request_id;
pub mod respond;
pub mod route_facts;
pub mod row;
mod sent_credential;
pub mod service;
pub mod session_caller;
pub mod text_answer;
pub mod upload;

pub use body_budget::BodyBudget;
pub use loopback::only_loopback;
pub use service::HttpService;
