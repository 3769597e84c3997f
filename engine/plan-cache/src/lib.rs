//! The plan cache and its freshness rule.
//!
//! **The rule.** A check that starts after a write was acknowledged is never decided by rules from before that write,
//! also if the write commits while a plan is being loaded.
//!
//! Every write is published here, after its commit and before its acknowledgement, with the tenant's new revision and
//! the resources that it touches. A cached plan has the revision up to which it is known to be valid. A check needs a
//! plan that is valid up to the last revision published when the check began. A plan that lags behind is compared with
//! the changes in between. A change that touches its resource, or that is no longer in the log, means a new load. So a
//! change to one resource costs the other plans of the tenant nothing. And a load that a write overtook has an old
//! revision, in whatever order the two interleave.
//!
//! **Two maps.** moka loads, weighs and evicts plans. A read of moka takes a clock and a lock, which costs more than the
//! decision. So a plan that is read twice is also kept in a second map, whose readers write to no shared memory.
//! [`PlanCache::hot`] reads that map. It contains only plans that moka still has, and the same rule applies to it.

#![forbid(unsafe_code)]

mod cache;
mod changes;

pub use cache::{CachedPlan, PlanCache};
