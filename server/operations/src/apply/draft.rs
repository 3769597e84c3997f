//! The plan while it is made.

use portcullis_model::apply::{
    FieldChange, ObjectKind, OwnerConflict, PlanCounts, PlannedAction, PlannedChange,
};

/// The part of a plan that is shown, while it is made.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// `None` is the operator, who owns all objects.
    owner: Option<&'a str>,
    /// Whether objects of other owners are taken over.
    force: bool,
    pub(super) changes: Vec<PlannedChange>,
    pub(super) conflicts: Vec<OwnerConflict>,
    pub(super) counts: PlanCounts,
    /// Objects of the owner that go for good.
    pub(super) deletions: usize,
}

impl<'a> Draft<'a> {
    pub(super) fn new(owner: Option<&'a str>, force: bool) -> Self {
        Self {
            owner,
            force,
            changes: Vec::new(),
            conflicts: Vec::new(),
            counts: PlanCounts::default(),
            deletions: 0,
        }
    }

    /// Returns whether an object of `managed_by` is the owner's.
    pub(super) fn is_own(&self, managed_by: Option<&str>) -> bool {
        self.owner.is_none() || managed_by == self.owner
    }

    /// Notes that a new object is created.
    pub(super) fn create(&mut self, kind: ObjectKind, name: String) {
        self.note(kind, name, PlannedAction::Create, Vec::new());
    }

    /// Notes that an object of the owner goes for good.
    pub(super) fn delete(&mut self, kind: ObjectKind, name: String) {
        self.deletions += 1;
        self.replace(kind, name);
    }

    /// Notes that an object goes because another one takes its place.
    pub(super) fn replace(&mut self, kind: ObjectKind, name: String) {
        self.note(kind, name, PlannedAction::Delete, Vec::new());
    }

    /// Notes that a rule becomes one of a default role.
    pub(super) fn release(&mut self, name: String, fields: Vec<FieldChange>) {
        self.note(ObjectKind::Rule, name, PlannedAction::Release, fields);
    }

    /// Returns whether the owner may change an object of `managed_by`. If not, notes the conflict.
    pub(super) fn may_change(
        &mut self,
        kind: ObjectKind,
        name: &str,
        managed_by: Option<&str>,
    ) -> bool {
        let foreign = managed_by.filter(|_| !self.is_own(managed_by) && !self.force);
        if let Some(other) = foreign {
            let (name, managed_by) = (name.to_owned(), other.to_owned());
            self.conflicts.push(OwnerConflict { kind, name, managed_by });
        }
        foreign.is_none()
    }

    /// Notes what an object that exists becomes. Returns whether it is written: it differs by `fields`, or is not the
    /// owner's yet. The owner may change it.
    pub(super) fn record_update(
        &mut self,
        kind: ObjectKind,
        name: String,
        managed_by: Option<&str>,
        mut fields: Vec<FieldChange>,
    ) -> bool {
        // An object gets its new owner also if it is the wanted one already.
        if !self.is_own(managed_by) {
            let [before, after] =
                [managed_by, self.owner].map(|owner| Some(serde_json::json!(owner?).to_string()));
            let path = "/managed_by".to_owned();
            fields.push(FieldChange::new(path, before.as_deref(), after.as_deref()));
            self.note(kind, name, PlannedAction::Adopt, fields);
            return true;
        }
        if fields.is_empty() {
            self.counts.unchanged += 1;
            return false;
        }
        self.note(kind, name, PlannedAction::Update, fields);
        true
    }

    fn note(
        &mut self,
        kind: ObjectKind,
        name: String,
        action: PlannedAction,
        fields: Vec<FieldChange>,
    ) {
        let counts = &mut self.counts;
        match action {
            PlannedAction::Create => counts.create += 1,
            PlannedAction::Update | PlannedAction::Release => counts.update += 1,
            PlannedAction::Delete => counts.delete += 1,
            PlannedAction::Adopt => counts.adopt += 1,
        }
        self.changes.push(PlannedChange { kind, name, action, fields });
    }
}
