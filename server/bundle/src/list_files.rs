//! Lists that are kept in one file, in a folder of files, or in both.

/// The ending of files that are read.
const ENDING: &str = ".yaml";

/// The names of the file and of the folder of one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListFiles {
    pub(super) file: &'static str,
    pub(super) folder: &'static str,
}

pub(super) const RESOURCES: ListFiles = ListFiles { file: "resources.yaml", folder: "resources" };
pub(super) const RULES: ListFiles = ListFiles { file: "rules.yaml", folder: "rules" };
pub(super) const POLICIES: ListFiles = ListFiles { file: "policies.yaml", folder: "policies" };
pub(super) const CASES: ListFiles = ListFiles { file: "cases.yaml", folder: "cases" };

/// The folders of a tenant folder that may have files of a list.
pub const LIST_FOLDERS: [&str; 4] = [RESOURCES.folder, RULES.folder, POLICIES.folder, CASES.folder];

impl ListFiles {
    /// Returns the path of the file `name` of the folder, if it is one that is read.
    pub(super) fn file_in_folder(&self, name: &str) -> Option<String> {
        let is_read = name.ends_with(ENDING) && !name.starts_with('.');
        is_read.then(|| format!("{}/{name}", self.folder))
    }
}

/// The items of a list, with the files that they come from.
#[derive(Debug)]
pub(super) struct Listed<V> {
    pub(super) items: Vec<V>,
    parts: Vec<ListPart>,
}

/// The items of one file, as a range of all items.
#[derive(Debug)]
pub(super) struct ListPart {
    pub(super) file: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<V> Default for Listed<V> {
    fn default() -> Self {
        Self { items: Vec::new(), parts: Vec::new() }
    }
}

impl<V> Listed<V> {
    pub(super) fn add(&mut self, file: String, items: Vec<V>) {
        let start = self.items.len();
        self.items.extend(items);
        self.parts.push(ListPart { file, start, end: self.items.len() });
    }

    /// The files, in the order of the items.
    pub(super) fn parts(&self) -> &[ListPart] {
        &self.parts
    }
}
