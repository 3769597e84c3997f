//! The answer of `POST /api/v1/apply` (`docs/semantics.md`, section 10.4).

use portcullis_model::apply::{FailedCase, ImpactReport, PlanCounts, PlannedAction, SkippedCase};
use serde::Deserialize;
use serde_json::Value;

/// A plan, and whether it was carried out.
#[derive(Debug, Deserialize)]
pub(crate) struct PlanAnswer {
    pub(super) revision: u64,
    pub(super) fingerprint: String,
    pub(super) changes: Vec<AnsweredChange>,
    #[serde(default)]
    pub(super) conflicts: Vec<OwnedObject>,
    pub(super) counts: PlanCounts,
    #[serde(default)]
    pub(super) tests: TestCounts,
    pub(super) impact: Option<ImpactReport>,
    #[serde(default)]
    pub(super) warnings: Vec<PlanWarning>,
    /// The tuples that the types do not allow any more.
    #[serde(default)]
    pub(super) deleted_tuples: u64,
    /// The change waits for the approval of another manager.
    pub(super) proposal: Option<ProposalName>,
}

/// A change of one object.
#[derive(Debug, Deserialize)]
pub(super) struct AnsweredChange {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) action: PlannedAction,
    #[serde(default)]
    pub(super) fields: Vec<ChangedField>,
}

/// A field with its values before and after a change.
#[derive(Debug, Deserialize)]
pub(super) struct ChangedField {
    pub(super) path: String,
    #[serde(default)]
    pub(super) before: Value,
    #[serde(default)]
    pub(super) after: Value,
}

/// An object that another owner has.
#[derive(Debug, Deserialize)]
pub(super) struct OwnedObject {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) managed_by: Option<String>,
}

/// The outcome of the tenant's cases after the change.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed_count: u64,
    pub(super) skipped_count: u64,
    /// Empty, as `skipped` is, if the caller may not read them.
    pub(super) failed: Vec<FailedCase>,
    pub(super) skipped: Vec<SkippedCase>,
}

/// A doubt about the content.
#[derive(Debug, Deserialize)]
pub(super) struct PlanWarning {
    pub(super) code: String,
    /// Empty if the caller may not read what it is about.
    pub(super) message: String,
    pub(super) path: Option<String>,
}

/// The id of a proposal.
#[derive(Debug, Deserialize)]
pub(super) struct ProposalName {
    pub(super) id: String,
}
