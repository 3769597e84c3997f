//! Names that no two items of a file may share.

use std::collections::HashSet;

use portcullis_engine::invalid::{Place, Problems};

/// Notes every item whose `what` an item before it has.
pub(super) fn each_once<N: ToString>(
    names: impl Iterator<Item = N>,
    what: &str,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let mut seen = HashSet::new();
    for (index, name) in names.map(|name| name.to_string()).enumerate() {
        if seen.contains(&name) {
            let what = format!("a unique {what}, but an earlier item also has `{name}`");
            problems.expected(&at.index(index), what);
        }
        seen.insert(name);
    }
}
