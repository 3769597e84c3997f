//! Questions that take more than one decision: permissions, matrices, searches, filters and sample calls of resolvers.

pub mod filters;
pub mod matrices;
pub mod permissions;
mod plan_by_plan;
pub mod search;
pub mod try_out;
