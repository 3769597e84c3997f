//! Names that no two items of a list may share.

use std::collections::HashMap;

use portcullis_engine::invalid::{Place, Problems};

/// Notes every item whose `what` an item before it has.
pub(super) fn each_once<N: ToString>(
    names: impl Iterator<Item = N>,
    what: &str,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    SeenNames::new(what).add("", names.map(|name| name.to_string()), at, problems);
}

/// The names of the items of a list so far, by the file that has them.
pub(super) struct SeenNames<'w> {
    what: &'w str,
    files: HashMap<String, String>,
}

impl<'w> SeenNames<'w> {
    /// Returns no names. Messages call a name `what`.
    pub(super) fn new(what: &'w str) -> Self {
        Self { what, files: HashMap::new() }
    }

    /// Adds the names of the items of a file. Notes every one that an item before it has.
    pub(super) fn add(
        &mut self,
        file: &str,
        names: impl Iterator<Item = String>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        for (index, name) in names.enumerate() {
            let Some(other) = self.files.get(&name) else {
                self.files.insert(name, file.to_owned());
                continue;
            };
            let holder = match other == file {
                true => "an earlier item".to_owned(),
                false => format!("an item of `{other}`"),
            };
            let what = format!("a unique {}, but {holder} also has `{name}`", self.what);
            problems.expected(&at.index(index), what);
        }
    }
}
