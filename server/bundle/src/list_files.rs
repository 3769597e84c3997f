//! Lists that are kept in one file, in a folder of files, or in both.

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
