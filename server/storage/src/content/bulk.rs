//! Writes of many records in few statements, for an apply. One statement for each of 10,000 policies would take seconds.

use portcullis_model::Authorship;
use portcullis_model::event::Event;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resource::ResourceRecord;
use portcullis_model::rule::RuleRecord;
use uuid::Uuid;

use crate::content::{policies, resources, rules};
use crate::transactions::error::StoreError;
use crate::transactions::row_lists::change_by_id;
use crate::transactions::tx::Tx;

/// A change of one record.
#[derive(Clone, Debug)]
pub enum RecordWrite<T> {
    Insert(T),
    /// Both have one id.
    Update {
        old: T,
        new: T,
    },
    Delete(T),
}

impl<T> RecordWrite<T> {
    /// Returns the record after the change; `None` if it is gone.
    pub fn after(&self) -> Option<&T> {
        match self {
            Self::Insert(new) | Self::Update { new, .. } => Some(new),
            Self::Delete(_) => None,
        }
    }

    /// Returns the record before the change; `None` if it is new.
    pub fn before(&self) -> Option<&T> {
        match self {
            Self::Update { old, .. } | Self::Delete(old) => Some(old),
            Self::Insert(_) => None,
        }
    }
}

/// Writes policies. The resource of a policy never changes.
pub async fn write_policies(
    tx: &mut Tx,
    writes: &[RecordWrite<PolicyRecord>],
    by: &Authorship,
) -> Result<(), StoreError> {
    let deleted: Vec<Uuid> = deleted(writes).map(|policy| policy.id).collect();
    policies::mark_deleted(tx, &deleted, by).await?;
    let written: Vec<&PolicyRecord> = writes.iter().filter_map(RecordWrite::after).collect();
    policies::write(tx, &written).await?;
    for write in writes {
        match write {
            RecordWrite::Insert(new) => policies::note_insert(tx, new),
            RecordWrite::Update { old, new } => policies::note_update(tx, old, new, by),
            RecordWrite::Delete(old) => policies::note_delete(tx, old, by),
        }
    }
    Ok(())
}

/// Writes rules. The tuple of a rule never changes.
pub async fn write_rules(
    tx: &mut Tx,
    writes: &[RecordWrite<RuleRecord>],
    by: &Authorship,
) -> Result<(), StoreError> {
    const DELETE: &str = "DELETE FROM rbac_rules WHERE tenant_id = $1";
    // Deletions first: a new rule may have the tuple of one that goes.
    let deleted: Vec<Uuid> = deleted(writes).map(|rule| rule.id).collect();
    change_by_id(tx, DELETE, None, &deleted).await?;
    let written: Vec<&RuleRecord> = writes.iter().filter_map(RecordWrite::after).collect();
    rules::write(tx, &written).await?;
    for write in writes {
        match write {
            RecordWrite::Insert(new) => rules::note_insert(tx, new),
            RecordWrite::Update { old, new } => rules::note_update(tx, old, new, by),
            RecordWrite::Delete(old) => {
                rules::count_delete(tx, old);
                rules::note_delete(tx, old, by);
            }
        }
    }
    Ok(())
}

/// Writes resources. The name of a resource never changes, and the rules of its default roles are other records.
pub async fn write_resources(
    tx: &mut Tx,
    writes: &[RecordWrite<ResourceRecord>],
    by: &Authorship,
) -> Result<(), StoreError> {
    const DELETE: &str = "DELETE FROM resources WHERE tenant_id = $1";
    let deleted: Vec<Uuid> = deleted(writes).map(|resource| resource.id).collect();
    change_by_id(tx, DELETE, None, &deleted).await?;
    let written: Vec<&ResourceRecord> = writes.iter().filter_map(RecordWrite::after).collect();
    resources::write(tx, &written).await?;
    for write in writes {
        let Some(new) = write.after() else { continue };
        resources::note_upsert(tx, write.before(), new);
        // A change of the owner alone has no event.
        if write.before().is_none_or(|old| old.registration != new.registration) {
            tx.record(Event::resource(new, by));
        }
    }
    for old in self::deleted(writes) {
        resources::count_delete(tx, old);
        resources::note_delete(tx, old);
    }
    Ok(())
}

/// Returns the records that `writes` delete.
fn deleted<T>(writes: &[RecordWrite<T>]) -> impl Iterator<Item = &T> {
    writes.iter().filter_map(|write| match write {
        RecordWrite::Delete(old) => Some(old),
        _ => None,
    })
}
