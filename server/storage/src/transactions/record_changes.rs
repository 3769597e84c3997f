//! The changes of records that a transaction makes, as the history keeps them.

use std::collections::BTreeMap;

use portcullis_model::apply::ObjectKind;

/// The records that a transaction changes, by kind and by id or name.
#[derive(Debug, Default)]
pub(crate) struct RecordChanges(BTreeMap<(ObjectKind, String), BeforeAndAfter>);

/// A record before and after a transaction, as JSON. `None` if it does not exist.
#[derive(Debug)]
pub(crate) struct BeforeAndAfter {
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl RecordChanges {
    /// Notes a change. Of several changes of a record, the first one has what was before and the last one what is after.
    pub(crate) fn note(
        &mut self,
        kind: ObjectKind,
        record: String,
        before: Option<String>,
        after: Option<String>,
    ) {
        let change = self.0.entry((kind, record));
        change
            .and_modify(|change| change.after.clone_from(&after))
            .or_insert(BeforeAndAfter { before, after });
    }

    /// Returns the records that are others now.
    pub(crate) fn into_changes(self) -> Vec<((ObjectKind, String), BeforeAndAfter)> {
        self.0.into_iter().filter(|(_, change)| change.before != change.after).collect()
    }
}
