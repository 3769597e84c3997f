//! Decisions: checks, batches, the plans they are made with, and what the decision log keeps of them.

pub(crate) mod action_terms;
pub mod batch_checks;
pub mod batch_items;
pub mod checks;
mod common_plans;
pub mod explained_checks;
pub mod hints;
mod live_hints;
pub(crate) mod live_questions;
pub(crate) mod open_scope;
pub(crate) mod past_plans;
pub(crate) mod plan_source;
pub mod probe;
mod recent_reasons;
pub mod recorded_checks;
pub(crate) mod recording;
mod shadowing;
