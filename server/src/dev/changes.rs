//! The changes of stored objects, as a reload prints them.

use std::collections::HashMap;
use std::fmt;

use portcullis_model::apply::{ObjectKind, PlannedAction};
use portcullis_operations::apply::ApplyPlan;

/// A change of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectChange {
    pub(super) kind: ChangeKind,
    /// The kind of the object, such as `rule`.
    object: &'static str,
    name: String,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Added,
    Changed,
    Removed,
}

impl ChangeKind {
    fn of(action: PlannedAction) -> Self {
        match action {
            PlannedAction::Create => Self::Added,
            PlannedAction::Delete => Self::Removed,
            PlannedAction::Update | PlannedAction::Adopt | PlannedAction::Release => Self::Changed,
        }
    }
}

impl ObjectChange {
    pub(super) fn new(kind: ChangeKind, object: &'static str, name: impl ToString) -> Self {
        Self { kind, object, name: name.to_string() }
    }
}

impl fmt::Display for ObjectChange {
    /// Writes `+`, `~` or `-`, then the object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            ChangeKind::Added => '+',
            ChangeKind::Changed => '~',
            ChangeKind::Removed => '-',
        };
        write!(f, "{sign} {} `{}`", self.object, self.name)
    }
}

/// Returns what `plan` changed.
pub(super) fn from_plan(plan: &ApplyPlan) -> Vec<ObjectChange> {
    let mut changes: Vec<ObjectChange> = Vec::new();
    let mut known: HashMap<(ObjectKind, String), usize> = HashMap::new();
    for (object, action, name) in plan.writes.objects() {
        // A policy that moves to another resource is deleted and inserted: it changed.
        if let Some(change) = known.get(&(object, name.clone())).and_then(|at| changes.get_mut(*at))
        {
            change.kind = ChangeKind::Changed;
            continue;
        }
        known.insert((object, name.clone()), changes.len());
        changes.push(ObjectChange {
            kind: ChangeKind::of(action),
            object: object.into_str(),
            name,
        });
    }
    let settings = plan.changes.iter().filter(|change| change.kind == ObjectKind::Settings);
    let fields = settings.flat_map(|change| &change.fields);
    changes.extend(fields.map(|field| {
        ObjectChange::new(ChangeKind::Changed, "setting", field.path.trim_start_matches('/'))
    }));
    changes
}
