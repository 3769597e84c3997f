//! The plan cache and its freshness rule.
//!
//! **The rule.** A check that starts after a write was acknowledged is never answered from before that
//! write, also when the write lands while a plan is being loaded. Every write is published here, after
//! its commit and before its acknowledgement, with the tenant's new revision and what it touched. A
//! cached plan remembers the revision up to which it is known to be valid; a check needs it to be valid
//! up to the last revision that was published when the check began. A plan that lags behind catches up
//! by going through the changes in between: one that touches its resource, or one that is not known any
//! more, means a new load. So a change to one resource costs the other plans of the tenant nothing, and
//! a load that a write overtook is found out by its revision, however the two interleave.
//!
//! **Two maps.** moka loads, weighs and evicts. A read of it takes a clock and a lock, more than the decision
//! behind it; so what it hands out twice is also put into a map whose readers write nothing that they share,
//! and [`PlanCache::hot`] reads that one. It holds nothing that moka has dropped, and goes by the same rule.

#![forbid(unsafe_code)]

mod cache;
mod changes;

pub use cache::{CachedPlan, HotPlans, PlanCache};
