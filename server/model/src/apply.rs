//! Plans and applies of bundles, as the API shows them (`docs/semantics.md`, sections 10.3 and 10.4).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::decision::is_zero;
pub use crate::object_kind::{DecidingList, KindFacts, ObjectKind};
use crate::proposal::{ProposalRecord, ProposalState};
use crate::{Timestamp, schema};

/// The effect of an apply on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlannedAction {
    Create,
    Update,
    Delete,
    /// An object without owner, or of another owner, becomes the owner's.
    Adopt,
    /// A rule of the owner becomes a rule of a default role.
    Release,
}

/// A member of an object that changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldChange {
    /// The JSON pointer (RFC 6901) into the object.
    pub path: String,
    /// `null` if the member is absent or secret.
    #[schema(required, schema_with = schema::anything)]
    pub before: Option<Box<RawValue>>,
    #[schema(required, schema_with = schema::anything)]
    pub after: Option<Box<RawValue>>,
}

impl FieldChange {
    /// Returns a change between two texts of JSON. Equal texts are the caller's affair.
    pub fn new(path: String, before: Option<&str>, after: Option<&str>) -> Self {
        Self { path, before: before.and_then(raw), after: after.and_then(raw) }
    }
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}

/// A change of one object.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PlannedChange {
    pub kind: ObjectKind,
    /// The name, the tuple, the namespace or the URL.
    pub name: String,
    pub action: PlannedAction,
    pub fields: Vec<FieldChange>,
}

/// An object that belongs to another owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnerConflict {
    pub kind: ObjectKind,
    pub name: String,
    pub managed_by: String,
}

/// The numbers of changes of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanCounts {
    pub create: u64,
    /// Updates and releases.
    pub update: u64,
    pub delete: u64,
    pub adopt: u64,
    /// Objects of the bundle that are the owner's already, and as they should be.
    pub unchanged: u64,
}

/// The decision of a case, and what decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CaseDecision {
    pub decision: String,
    /// The name of a policy, a rule's tuple, or `default-deny`. Absent if the case expects a decision alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub rule: Option<String>,
}

/// A case that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailedCase {
    pub case: String,
    pub expected: CaseDecision,
    pub actual: CaseDecision,
    /// The reason of the decision, or why it does not count.
    pub reason: String,
}

/// A case that is not decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedCase {
    pub case: String,
    pub reason: String,
}

/// The outcome of cases on the content after an apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CaseReport {
    pub passed: u64,
    pub failed_count: u64,
    pub skipped_count: u64,
    /// Empty for a caller without `policies:read`, as `skipped` is.
    pub failed: Vec<FailedCase>,
    pub skipped: Vec<SkippedCase>,
}

/// A doubt about an object of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BundleWarning {
    pub code: crate::warning::WarningCode,
    pub message: String,
    /// The JSON pointer (RFC 6901) into the body.
    pub path: String,
}

/// The decision on all requests of a role, a domain, a resource and an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "lowercase")]
#[schema(as = ImpactOutcome)]
pub enum CellDecision {
    /// Each is allowed.
    Allow,
    /// Each is denied.
    Deny,
    /// Attributes decide.
    Depends {
        /// The condition under which a request is allowed, as text; `null` if it is too large to be shown.
        #[schema(required)]
        condition: Option<String>,
        /// The names of the first policies that can change the decision.
        policies: Vec<String>,
        /// The number of further such policies.
        more_policies: usize,
    },
}

/// Decisions that an apply changes. In `role`, `domain` and `action`, `*` is every one, and `null` is each that no rule and
/// no condition names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImpactChange {
    #[schema(required)]
    pub role: Option<String>,
    #[schema(required)]
    pub domain: Option<String>,
    /// The resource, or a pattern for the resources that nothing names.
    pub resource: String,
    #[schema(required)]
    pub action: Option<String>,
    pub before: CellDecision,
    pub after: CellDecision,
}

/// The decisions of roles that an apply changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImpactReport {
    pub complete: bool,
    /// The reason why it is not complete.
    #[schema(required)]
    pub note: Option<String>,
    pub changes: Vec<ImpactChange>,
    /// The changes on actions that are not the verb of the resource, and that no rule or policy on it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ImpactChange>,
}

/// A proposal that an apply made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProposalSummary {
    pub id: Uuid,
    pub state: ProposalState,
    pub owner: String,
    pub expires_at: Timestamp,
}

impl From<&ProposalRecord> for ProposalSummary {
    fn from(record: &ProposalRecord) -> Self {
        let owner = record.owner.clone();
        Self { id: record.id, state: record.state, owner, expires_at: record.expires_at }
    }
}

/// The answer to an apply.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "revision": 813,
    "applied": true,
    "fingerprint": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "changes": [{
        "kind": "policy", "name": "own-chart", "action": "update",
        "fields": [{"path": "/priority", "before": 10, "after": 20}],
    }],
    "conflicts": [],
    "counts": {"create": 0, "update": 1, "delete": 0, "adopt": 0, "unchanged": 41},
    "tests": {
        "passed": 41, "failed_count": 0, "skipped_count": 0, "failed": [], "skipped": [],
    },
    "impact": null,
    "warnings": [],
})))]
pub struct ApplyAnswer {
    /// Present if a second manager must approve the apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub proposal: Option<ProposalSummary>,
    pub revision: u64,
    pub applied: bool,
    pub fingerprint: String,
    pub changes: Vec<PlannedChange>,
    pub conflicts: Vec<OwnerConflict>,
    pub counts: PlanCounts,
    pub tests: CaseReport,
    #[schema(required)]
    pub impact: Option<ImpactReport>,
    pub warnings: Vec<BundleWarning>,
    /// The tuples that go, or would go, because the types do not allow them any more (`delete_tuples_of`). Absent if there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub deleted_tuples: u64,
}
