//! Refusals of writes that would break a rule of the tenant's owners (`docs/semantics.md`, section 10).

use portcullis_model::apply::OwnerConflict;

/// The reason why a write is refused.
#[derive(Debug)]
pub enum WriteRefusal {
    /// The record belongs to this owner.
    Managed(String),
    /// The bundle names objects of other owners.
    OwnedByAnother(Vec<OwnerConflict>),
    /// The plan deletes too many of the owner's objects.
    DeleteLimit { deletions: usize, owned: usize, limit: usize },
    /// The content that the plan read has changed.
    PlanStale,
    /// The tenant has this revision, not the expected one.
    RevisionChanged { expected: u64, current: u64 },
}
