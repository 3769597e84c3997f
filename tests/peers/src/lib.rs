//! Other decision engines on the workloads of `portcullis-workloads`. Each has the setup that an expert
//! in that engine would choose.
//!
//! A peer may know beforehand what a directory would hold: the roles of a subject. All other values come with the
//! request, as strings. No peer returns the domain, an id or a reason. `docs/performance.md` says how each workload is
//! mapped, and what the mapping leaves out.

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
    /// Decides a request.
    ///
    /// # Errors
    /// Returns the failure of the engine. A denial is no failure.
    fn allows(&mut self, ask: &Ask<'_>) -> Result<bool>;

    /// Adds or removes a rule.
    ///
    /// # Errors
    /// Returns the failure of the engine.
    fn change(&mut self, rule: &Rule, present: bool) -> Result<()>;
}
