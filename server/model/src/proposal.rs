//! Proposals: applies that wait for a second manager (`docs/semantics.md`, section 10.10).

use portcullis_engine::names::names;
use serde::Serialize;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Timestamp, document, schema};

/// The state of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(into = "&'static str")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum ProposalState {
    /// It waits for a second manager.
    Open,
    Approved,
    Rejected,
    /// Nobody decided it in time.
    Expired,
}

document!(ProposalState => schema::choice(names::<ProposalState>()));

/// A proposal as the store keeps it and the API shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b71",
    "tenant_id": "general-hospital",
    "state": "open",
    "owner": "git:github.com/acme/authz",
    "message": "doctors write charts",
    "fingerprint": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "plan": {"counts": {"create": 0, "update": 1, "delete": 0, "adopt": 0, "unchanged": 41}},
    "proposed_by": "key:019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64",
    "proposed_at": "2026-05-16T09:30:00.000Z",
    "expires_at": "2026-05-23T09:30:00.000Z",
    "decided_by": null,
    "decided_at": null,
})))]
pub struct ProposalRecord {
    pub id: Uuid,
    pub tenant_id: String,
    pub state: ProposalState,
    pub owner: String,
    #[schema(required)]
    pub message: Option<String>,
    /// The fingerprint of what the plan read.
    pub fingerprint: String,
    /// The answer to the apply: its changes, tests and warnings.
    #[schema(value_type = Object)]
    pub plan: Value,
    pub proposed_by: String,
    pub proposed_at: Timestamp,
    /// Nobody can approve it from then on.
    pub expires_at: Timestamp,
    #[schema(required)]
    pub decided_by: Option<String>,
    #[schema(required)]
    pub decided_at: Option<Timestamp>,
    /// Whoever created the service key that proposed it.
    #[serde(skip)]
    #[schema(ignore)]
    pub key_creator: Option<String>,
}

impl ProposalRecord {
    /// Returns the proposal as it is at `now`: one that nobody decided in time is expired.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        let is_late = self.state == ProposalState::Open && now >= self.expires_at;
        let state = if is_late { ProposalState::Expired } else { self.state };
        Self { state, ..self }
    }

    /// Returns whether `actor` proposed it, directly or by a service key that `actor` created.
    pub fn is_of(&self, actor: &str) -> bool {
        self.proposed_by == actor || self.key_creator.as_deref() == Some(actor)
    }
}
