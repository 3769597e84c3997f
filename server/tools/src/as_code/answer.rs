//! The answer of `POST /api/v1/apply` (`docs/semantics.md`, section 10.4).

use portcullis_bundle::matrix::Impact;
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
    pub(super) counts: ChangeCounts,
    #[serde(default)]
    pub(super) tests: TestCounts,
    pub(super) impact: Option<Impact>,
    #[serde(default)]
    pub(super) warnings: Vec<PlanWarning>,
    /// The change waits for the approval of another manager.
    pub(super) proposal: Option<ProposalName>,
}

/// A change of one object.
#[derive(Debug, Deserialize)]
pub(super) struct AnsweredChange {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) action: ChangeAction,
    #[serde(default)]
    pub(super) fields: Vec<ChangedField>,
}

/// The action of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChangeAction {
    Create,
    Update,
    Delete,
    /// The object gets the owner.
    Adopt,
    /// The rule becomes one of a default role.
    Release,
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

/// The numbers of objects by what happens to them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChangeCounts {
    pub(super) create: u64,
    pub(super) update: u64,
    pub(super) delete: u64,
    pub(super) adopt: u64,
    pub(super) unchanged: u64,
}

/// The outcome of the tenant's cases after the change.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed_count: u64,
    pub(super) skipped_count: u64,
    /// Empty, as `skipped` is, if the caller may not read them.
    pub(super) failed: Vec<FailedTest>,
    pub(super) skipped: Vec<SkippedTest>,
}

/// A case that another decision came out of.
#[derive(Debug, Deserialize)]
pub(super) struct FailedTest {
    #[serde(rename = "case")]
    pub(super) name: String,
    pub(super) expected: TestDecision,
    pub(super) actual: TestDecision,
}

/// A decision, and what decides.
#[derive(Debug, Deserialize)]
pub(super) struct TestDecision {
    pub(super) decision: String,
    pub(super) rule: Option<String>,
}

/// A case that the service cannot decide.
#[derive(Debug, Deserialize)]
pub(super) struct SkippedTest {
    #[serde(rename = "case")]
    pub(super) name: String,
    pub(super) reason: String,
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
