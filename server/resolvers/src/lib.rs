//! Attribute resolvers in service: the tenants' resolvers, and the resolvers that the operator offers to all tenants.
//!
//! The engine says which attributes a check needs. This crate finds the resolver that answers each of them, caches the
//! answers, stops calls of a resolver that keeps failing, and measures the calls. It decides nothing. A failure of a
//! resolver never ends a check: the cause takes the place of the answer.
//!
//! [`ResolverService`] is what the server calls. It keeps the [`Registry`], the resolvers in memory, equal to the store.

mod active;
mod admissions;
mod attributes;
mod binding;
mod breaker;
mod changed;
mod common_inputs;
mod config;
mod endpoints;
mod failure;
mod limits;
mod loader;
mod measurements;
mod metrics;
mod missed;
mod module_record;
pub mod namespaces;
mod operator;
mod path;
mod reconciler;
mod registry;
mod report;
mod runtime;
pub mod secrets;
mod service;
mod single_flight;
mod status;
mod status_records;
mod tenants;
mod threads;
mod values;

pub use admissions::Admitted;
pub use binding::{Binding, BindingError};
pub use common_inputs::{CommonAnswers, OpenCheck};
pub use config::ResolverConfig;
pub use endpoints::Granted;
pub use failure::{LoadFailure, is_transient};
pub use metrics::ResolverMetrics;
pub use module_record::module_record;
pub use operator::OperatorResolver;
pub use portcullis_resolver_host::{
    Compiler, CompilerLimits, CompilerProcess, compile_component, must_be_private,
};
pub use registry::{CacheMode, Registry};
pub use report::{AnswerOrigin, AnswerSource, Asked, Provenance, Report};
pub use service::ResolverService;
pub use threads::ResolverThreads;
pub use values::json;

#[cfg(test)]
mod tests;
