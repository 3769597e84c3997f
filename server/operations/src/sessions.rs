//! The sessions of the console (`docs/semantics.md`, section 19.3). Nothing of them is kept in memory: a page reads one row by
//! the hash of its cookie, so that an end counts at once on every replica.

mod beginning;
pub mod ended;
pub mod links;
pub mod live;
pub mod logins;
mod proof;
pub mod providers;
mod refresh;
mod sealed;

pub use beginning::SignedIn;
pub use proof::{SessionProof, console, origin};
