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
//! **The memory.** moka owns the plans: the bytes of plans and of their places stay within its limit. moka knows no
//! tenants. So before it gets a new plan that does not fit, the shares choose what goes: the tenant whose plans take the
//! most bytes loses those that it did not read for the longest time. A tenant with very many plans pushes out its own, and a
//! tenant that is alone may fill the cache.
//!
//! **Shared plans.** Resources that no rule and no policy names are decided by those on `<name>:*` and `*` alone, and share
//! their plan. The plan of `*` has the set of all patterns of the tenant. Each published change adds its patterns to the
//! set, before a check looks at it.
//!
//! **Warm plans.** Plans are also made before checks ask for them. Such a plan follows the same rule, and takes no more than free
//! memory and an equal part of all: nothing leaves for it.
//!
//! **The view.** Checks read the plans in a map beside moka, which takes a clock, a lock and a place in a queue for a read. A
//! read of the view writes to no memory that threads share, but for the mark that the plan was read, once. A new plan enters
//! the view, then moka; what moka drops leaves the view.

#![forbid(unsafe_code)]

mod cache;
mod cached_plan;
mod changes;
mod key;
mod own_patterns;
mod owned;
mod shares;
mod tenant_logs;
mod view;
mod warming;

pub use cache::{CacheSize, OutdatedPlan, PlanCache};
pub use cached_plan::{CachedPlan, NewPlan};
pub use changes::ChangedRecords;
pub use own_patterns::{OwnPatterns, WILDCARD};
pub use owned::Spare;
pub use view::HotPlans;
pub use warming::WarmedTenant;
