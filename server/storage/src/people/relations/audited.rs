//! Tuples as audit records name them.

use std::collections::HashMap;

use portcullis_directory::RelationNumber;
use portcullis_model::audit::AuditAction;

use super::TupleKey;
use crate::commits::audit;
use crate::content::types::relation_names;
use crate::transactions::audit_entry::AuditEntry;
use crate::transactions::error::StoreError;
use crate::transactions::tx::Tx;

/// The most tuples of a call that its audit record names.
const MAX_NAMED: usize = 100;

/// The tuples of a call that its audit record has.
#[derive(Debug)]
pub(super) struct AuditedTuples {
    action: AuditAction,
    /// The first ones.
    keys: Vec<TupleKey>,
    count: usize,
}

impl AuditedTuples {
    pub(super) fn new(action: AuditAction) -> Self {
        Self { action, keys: Vec::new(), count: 0 }
    }

    /// Notes that a tuple was written or deleted.
    pub(super) fn note(&mut self, key: &TupleKey) {
        self.count += 1;
        if self.keys.len() < MAX_NAMED {
            self.keys.push(key.clone());
        }
    }

    /// Returns the number of tuples.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Stores the audit record, if there is a change.
    pub(super) async fn store(self, tx: &mut Tx) -> Result<(), StoreError> {
        if self.count == 0 {
            return Ok(());
        }
        let names = relation_names(tx).await?;
        let entries = self.keys.iter().map(|key| AuditEntry::new(self.action, name(key, &names)));
        let entries: Vec<AuditEntry> = entries.collect();
        audit::write_call(tx, &entries, self.count).await
    }
}

/// Returns `<object>#<relation>@<subject>`, with `#<relation>` of the subject if there is one.
fn name(key: &TupleKey, names: &HashMap<RelationNumber, String>) -> String {
    let userset = key.subject_relation.as_ref();
    let userset = userset.map(|number| format!("#{}", relation_name(number, names)));
    let userset = userset.unwrap_or_default();
    format!("{}#{}@{}{userset}", key.object, relation_name(&key.relation, names), key.subject)
}

fn relation_name<'n>(
    number: &RelationNumber,
    names: &'n HashMap<RelationNumber, String>,
) -> &'n str {
    names.get(number).map_or("?", String::as_str)
}
