//! Other decision engines on the workloads of `portcullis-workloads`, each set up as an expert in it would do.
//!
//! A peer may know in advance the data of a directory: the roles of each subject. Everything else comes with the request,
//! as strings. No peer handles the domain, an id or a reason. `docs/performance.md` describes the mapping of each
//! workload and its omissions.

mod casbin;
mod cedar;
mod rego;

pub use casbin::{Cached, Casbin, Kind, Plain};
pub use cedar::{Cedar, Slice};
pub use rego::{Interpreted, Machine, Rego, Runner};

use anyhow::Result;
use portcullis_workloads::SampleRule;
use portcullis_workloads::plain_request::PlainRequest;

/// A decision engine with the rules of a workload.
pub trait Peer {
    /// Decides a request from its strings.
    ///
    /// # Errors
    /// The engine's error, which is not a denial.
    fn allows(&mut self, request: &PlainRequest<'_>) -> Result<bool>;

    /// Adds or removes a rule.
    ///
    /// # Errors
    /// The engine's error.
    fn change(&mut self, rule: &SampleRule, present: bool) -> Result<()>;
}
