//! Turns and shares that keep a tenant, or a flood of callers, from delaying others. The crate depends on no other crate
//! of the product, so that each may use it.
//!
//! **Turns.** A [`TurnQueue`] lets a limited number of requests run at the same time; the others wait, in one line for each
//! tenant ([`TenantLines`]). The next turn goes to the tenant that has the fewest; among those, to the one that waits for
//! longest. So a request of a tenant without a turn waits for at most one turn of each other tenant, however many of their
//! requests wait. The tests of `turns.rs` prove it, so that the users of a queue prove only that they use it.
//!
//! **Shares.** [`TenantShares`] says which entries a full cache drops: entries of a tenant that has the most.
//!
//! **Values by key.** [`PerKey`] gives all who wait for the same thing one value, such as one load.
//!
//! **Log lines.** A [`Throttle`] passes one line in ten seconds.
//!
//! **Other threads.** [`run_apart`] and [`run_in_place`] run what computes for long beside the threads of requests.

#![forbid(unsafe_code)]

mod apart;
mod lines;
mod per_key;
mod shares;
mod throttle;
mod turns;

pub use apart::{Stopping, run_apart, run_in_place, run_to_end};
pub use lines::{TenantCounts, TenantLines};
pub use per_key::{KeyUse, PerKey};
pub use shares::{ShareBounds, TenantShares};
pub use throttle::Throttle;
pub use turns::{Turn, TurnLimits, TurnQueue, TurnRefusal};
