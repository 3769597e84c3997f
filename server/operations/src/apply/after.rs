//! The content after a plan.

use std::collections::{HashMap, HashSet};

use portcullis_storage::bulk::RecordWrite;

use crate::content::kinds::{ContentRecord, RecordKey};

/// Returns the records of one kind after `writes`: the stored ones in their order, and then the new ones.
pub(crate) fn after<'r, R: ContentRecord>(
    stored: &'r [R],
    writes: &'r [RecordWrite<R>],
) -> Vec<&'r R> {
    let written: HashMap<RecordKey<'_>, Option<&R>> =
        writes.iter().filter_map(|write| Some((write.before()?.key(), write.after()))).collect();
    let kept = stored.iter().filter_map(|record| match written.get(&record.key()) {
        // `None` leaves a record out that goes.
        Some(written) => *written,
        None => Some(record),
    });
    let replaced: HashSet<RecordKey<'_>> = written.keys().copied().collect();
    let new = writes.iter().filter_map(RecordWrite::after);
    kept.chain(new.filter(|record| !replaced.contains(&record.key()))).collect()
}
