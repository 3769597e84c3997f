//! The changes of stored objects, as a reload prints them.

use std::collections::HashMap;
use std::fmt;

use portcullis_model::apply::ObjectKind;
use portcullis_operations::apply::ApplyPlan;
use portcullis_storage::bulk::RecordWrite;

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
    let writes = &plan.writes;
    let mut changes = Vec::new();
    add(&mut changes, "resolver", &writes.resolvers, |it| it.manifest.namespace.clone());
    add(&mut changes, "rule", &writes.rules, |it| it.tuple.to_string());
    add(&mut changes, "role", &writes.roles, |it| it.name.clone());
    add(&mut changes, "type", &writes.types, |it| it.kind.clone());
    add(&mut changes, "policy", &writes.policies, |it| it.name.clone());
    add(&mut changes, "resource", &writes.resources, |it| it.registration.name.clone());
    let settings = plan.changes.iter().filter(|change| change.kind == ObjectKind::Settings);
    let fields = settings.flat_map(|change| &change.fields);
    changes.extend(fields.map(|field| {
        ObjectChange::new(ChangeKind::Changed, "setting", field.path.trim_start_matches('/'))
    }));
    changes
}

/// Adds the changes of one kind of object. A policy that moves to another resource is deleted and inserted: it changed.
fn add<T>(
    changes: &mut Vec<ObjectChange>,
    object: &'static str,
    writes: &[RecordWrite<T>],
    name: impl Fn(&T) -> String,
) {
    let mut known: HashMap<String, usize> = HashMap::new();
    for write in writes {
        let (kind, record) = match write {
            RecordWrite::Insert(new) => (ChangeKind::Added, new),
            RecordWrite::Update { new, .. } => (ChangeKind::Changed, new),
            RecordWrite::Delete(old) => (ChangeKind::Removed, old),
        };
        let name = name(record);
        match known.get(&name).and_then(|&index| changes.get_mut(index)) {
            Some(change) => change.kind = ChangeKind::Changed,
            None => {
                known.insert(name.clone(), changes.len());
                changes.push(ObjectChange { kind, object, name });
            }
        }
    }
}
