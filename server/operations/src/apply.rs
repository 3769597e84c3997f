//! Plans and applies of bundles (`docs/semantics.md`, section 10).
//!
//! [`plan()`] is a pure function of the stored content and the bundle; [`execute()`] writes what it says.
//! [`apply_body()`] calls both for a caller, and [`apply_as_operator()`] for the operator, in one transaction.

mod action_checks;
mod after;
mod answer;
mod applied_record;
mod approval;
mod content;
mod context;
mod diff_conditions;
mod diff_policies;
mod diff_resolvers;
mod diff_resources;
mod diff_roles;
mod diff_rules;
mod diff_types;
mod diff_webhooks;
mod draft;
mod execute;
mod execution;
mod export;
pub mod failed_cases;
mod fingerprint;
mod guards;
mod impact;
mod judged_plan;
mod named_kind;
mod namespaces;
mod operator;
mod outdated_tuples;
mod plan;
pub mod proposals;
mod ready;
mod replace;
mod request;
mod restoration;
mod rights;
mod run;
mod secrets;
mod shadow_gates;
mod stored_types;
mod type_checks;
mod writes;

pub use approval::approve;
pub use execute::execute;
pub use execution::Execution;
pub use export::{Export, export};
pub use operator::apply_as_operator;
pub use plan::{ApplyPlan, PlanContext, plan};
pub use ready::ReadyResolver;
pub use replace::{BundleOrigin, BundleReach, Replacement, counts_of, replace, with_kinds};
pub use request::ApplyRequest;
pub use run::apply_body;
pub(crate) use run::must_match;
pub use writes::Writes;

#[cfg(test)]
mod content_tests;
#[cfg(test)]
mod tests;
