//! Reports of replays (`docs/semantics.md`, section 18.1).

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use uuid::Uuid;

/// A kind of difference between recorded decisions and a candidate's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ReplayChange {
    AllowToDeny,
    DenyToAllow,
    /// Another rule decides, with the same effect.
    RuleChanged,
    /// The candidate reads what is not recorded.
    UndeterminedNew,
    /// The rules that decided do not decide so again: an input is missing.
    NotReproduced,
}

/// Recorded decisions that differ in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReplayGroup {
    pub change: ReplayChange,
    pub resource: String,
    /// The name of the policy, or the tuple of the rule, that decided; or `default-deny`.
    pub before: String,
    /// The one that decides; `null` if that is not known.
    #[schema(required)]
    pub after: Option<String>,
    pub count: u64,
    /// The number of subjects.
    pub subjects: u64,
    /// The ids of the newest records.
    pub samples: Vec<Uuid>,
}

/// The outcome of a replay, or what is known so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReplayReport {
    /// The records that were decided again.
    pub replayed: u64,
    /// Those that the rules of their time decide again as recorded.
    pub reproduced: u64,
    /// Those of them that have the same effect by the candidate.
    pub unchanged: u64,
    pub allow_to_deny: u64,
    pub deny_to_allow: u64,
    /// Those of the unchanged ones that another rule or policy decides.
    pub rule_changed: u64,
    /// Those that have no input for their own decision, or whose revision is not kept any more.
    pub not_replayable: u64,
    /// Those of which the candidate reads what is not recorded.
    pub undetermined_new: u64,
    /// The largest groups of each change, by change.
    pub groups: Vec<ReplayGroup>,
    /// Whether there are groups that are not shown.
    pub more_groups: bool,
    /// Whether all records are counted.
    pub complete: bool,
}

impl ReplayReport {
    /// Returns the number of records with a difference of this kind.
    pub fn count(&self, change: ReplayChange) -> u64 {
        match change {
            ReplayChange::AllowToDeny => self.allow_to_deny,
            ReplayChange::DenyToAllow => self.deny_to_allow,
            ReplayChange::RuleChanged => self.rule_changed,
            ReplayChange::UndeterminedNew => self.undetermined_new,
            ReplayChange::NotReproduced => self.replayed - self.not_replayable - self.reproduced,
        }
    }
}
