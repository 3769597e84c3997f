//! Other decision engines on the workloads of `portcullis-workloads`, each as somebody who knows it well would
//! set it up.
//!
//! A peer may know beforehand what stands in a directory: which roles a subject has. All else comes with
//! the request, as strings. None is asked for the domain, an id or a reason. `docs/performance.md` says how each
//! workload is mapped, and what that leaves out.

mod casbin;
mod cedar;
mod rego;

pub use casbin::{Cached, Casbin, Kind, Plain};
pub use cedar::{Cedar, Slice};
pub use rego::{Interpreted, Machine, Rego, Runner};

use anyhow::Result;
use portcullis_workloads::Rule;
use portcullis_workloads::ask::Ask;

/// A decision engine with the rules of a workload.
pub trait Peer {
    /// From the strings of a request to the decision.
    ///
    /// # Errors
    /// What the engine fails with; not a denial.
    fn allows(&mut self, ask: &Ask<'_>) -> Result<bool>;

    /// Adds a rule, or takes it away.
    ///
    /// # Errors
    /// What the engine fails with.
    fn change(&mut self, rule: &Rule, present: bool) -> Result<()>;
}
