//! The records that the service keeps, and the inputs that create and change them.
//!
//! An input is declared with [`input`], so that a refusal names every problem at once and the API's document describes
//! exactly what is read.

pub mod apply;
pub mod audit;
mod authorship;
pub mod check;
pub mod clock;
pub mod decision;
pub mod decision_log;
mod decision_members;
pub mod decision_stats;
pub mod delivery;
pub mod draft;
pub mod egress_rules;
pub mod entity;
pub mod event;
pub mod explained_check;
pub mod fields;
pub mod file_schema;
pub mod filter;
pub mod folder_webhook;
pub mod hint;
pub mod hours;
pub mod ids;
pub mod input;
pub mod jitter;
pub mod matrix;
pub mod named_condition;
mod object_kind;
pub mod owner;
pub mod page;
pub mod parity;
pub mod period;
pub mod permissions;
pub mod policy;
pub mod proposal;
pub mod provider;
pub mod quota;
pub mod relation;
pub mod relation_declaration;
pub mod replay;
pub mod resolver;
pub mod resource;
pub mod revision;
pub mod role;
pub mod rule;
pub mod rule_filter;
pub mod schema;
pub mod search;
pub mod service_key;
pub mod session;
pub mod settings;
pub mod shadow;
pub mod sign_in;
pub mod tenant;
mod timestamp;
pub mod types;
pub mod value_type;
pub mod wanted_webhook;
pub mod warning;
pub mod webhook;

pub use authorship::{Authorship, SignedRecord};
pub use timestamp::Timestamp;
