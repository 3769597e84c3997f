//! The content after a plan.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use portcullis_storage::bulk::RecordWrite;

/// Returns the records of one kind after `writes`: the stored ones in their order, and then the new ones. `id` names a
/// record.
pub fn after<'r, T, I: Copy + Eq + Hash>(
    stored: &'r [T],
    writes: &'r [RecordWrite<T>],
    id: impl Fn(&'r T) -> I,
) -> Vec<&'r T> {
    let written: HashMap<I, Option<&T>> =
        (writes.iter()).filter_map(|write| Some((id(write.before()?), write.after()))).collect();
    let kept = stored.iter().filter_map(|record| match written.get(&id(record)) {
        Some(written) => *written,
        None => Some(record),
    });
    let replaced: HashSet<I> = written.keys().copied().collect();
    let new = writes.iter().filter_map(RecordWrite::after);
    kept.chain(new.filter(|record| !replaced.contains(&id(record)))).collect()
}
