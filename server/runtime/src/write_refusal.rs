//! Refusals of writes that would break a rule of the tenant's owners (`docs/semantics.md`, section 10).

use portcullis_model::Timestamp;
use portcullis_model::apply::OwnerConflict;
use portcullis_model::settings::ShadowGates;

/// The reason why a write is refused.
#[derive(Debug)]
pub enum WriteRefusal {
    /// The record belongs to this owner.
    Managed(String),
    /// The bundle names objects of other owners.
    OwnedByAnother(Vec<OwnerConflict>),
    /// The write would delete too many of the records that its sender keeps.
    DeleteLimit { by: DeletingWrite, deletions: usize, owned: usize, limit: usize },
    /// The content that the plan read has changed.
    PlanStale,
    /// The tenant has this revision, not the expected one.
    RevisionChanged { expected: u64, current: u64 },
    /// Stored objects have, read or name what is not there after the write, is another thing, or is not allowed.
    Breaks(BrokenObjects),
    /// The gates of the tenant want other outcomes of the draft in shadow.
    ShadowRequired(ShadowShortfall),
    /// With the gate `approval` nobody could change the tenant any more: there is nobody who could approve.
    ApprovalImpossible,
}

/// A draft that the gates of its tenant do not let be published yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowShortfall {
    pub draft: String,
    pub required: ShadowGates,
    /// The comparison with checks; `None` if the draft is not in shadow.
    pub seen: Option<SeenInShadow>,
}

/// The parts of a comparison that gates judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenInShadow {
    pub since: Timestamp,
    /// The time since then, in whole seconds.
    pub seconds: u64,
    /// The checks that the draft decided otherwise.
    pub flips: u64,
    /// The checks that were not compared, each of which may be a flip.
    pub not_compared: u64,
}

/// Stored objects that a change of types or settings would break.
#[derive(Debug, Default)]
pub struct BrokenObjects {
    /// The first of them.
    pub first: Vec<BrokenObject>,
    pub count: usize,
}

/// A stored object that a change of types would break.
#[derive(Debug)]
pub struct BrokenObject {
    /// `policy`, `case`, `entity`, `relation`, `rule` or `resolver`.
    pub kind: &'static str,
    /// The name of a policy, case or resolver, `<type>:<id>` of an entity, `<type>.<name>` of a relation, or the parts of a rule.
    pub name: String,
    /// The fault that the object would have.
    pub message: String,
}

/// A write that deletes what it does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletingWrite {
    Apply,
    /// The end of a full sync of entities.
    EntitySync,
    /// The end of a full sync of tuples.
    RelationSync,
    /// An apply of types that do not allow tuples any more.
    Types,
}
