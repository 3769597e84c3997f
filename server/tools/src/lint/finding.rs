//! Findings, and their places in the files of a folder.

use std::collections::HashSet;

use portcullis_bundle::{Bundle, ItemKind, ItemPlaces, SourceFile};
use serde::Serialize;

use super::code::{LintCode, Severity};

/// A finding about an item or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) code: LintCode,
    pub(super) subject: LintSubject,
    /// One sentence that says what is wrong.
    pub(super) message: String,
    /// The advice: a sentence without full stop.
    pub(super) advice: String,
}

/// The part of a folder that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LintSubject {
    /// An item of a list, and the JSON pointer of a member of it.
    Item(ItemKind, usize, &'static str),
    /// All items of a kind.
    Kind(ItemKind),
    /// A file of the folder.
    File(String),
}

/// A finding with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub code: LintCode,
    pub severity: Severity,
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
    pub advice: String,
    /// The line on which the item begins; none for a whole file.
    #[serde(skip)]
    pub(super) item_line: Option<usize>,
}

/// Returns a path as findings show it. The annotations of GitHub know no `./`.
pub(super) fn shown(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// The places of all items of a folder.
pub(super) struct Places<'b> {
    folder: &'b str,
    files: Vec<(&'b SourceFile, ItemPlaces)>,
}

impl<'b> Places<'b> {
    pub(super) fn new(folder: &'b str, bundle: &'b Bundle) -> Self {
        let files = bundle.sources.iter().map(|file| (file, file.places()));
        Self { folder, files: files.collect() }
    }

    /// Returns the finding with its place.
    pub(super) fn place(&self, doubt: Doubt) -> Finding {
        let (file, (line, column), item_line) = self.position(&doubt.subject);
        let Doubt { code, message, advice, .. } = doubt;
        let severity = code.severity();
        let file = shown(&file).to_owned();
        Finding { code, severity, file, line, column, message, advice, item_line }
    }

    fn position(&self, subject: &LintSubject) -> (String, (usize, usize), Option<usize>) {
        let start = (1, 1);
        match subject {
            LintSubject::File(name) => (format!("{}/{name}", self.folder), start, None),
            LintSubject::Kind(kind) => {
                let file = self.files.iter().find(|(file, _)| file.kind == *kind);
                (file.map_or(self.folder, |(file, _)| &*file.path).to_owned(), start, None)
            }
            LintSubject::Item(kind, index, pointer) => match self.file_of(*kind, *index) {
                None => (self.folder.to_owned(), start, None),
                Some((file, places, index)) => {
                    // The empty pointer is the item itself, whose line a silencer stands above.
                    let (item_line, _) = places.position(index, "");
                    (file.path.clone(), places.position(index, pointer), Some(item_line))
                }
            },
        }
    }

    /// Returns the file that has the item, its places, and the number of the item in it.
    fn file_of(&self, kind: ItemKind, index: usize) -> Option<(&SourceFile, &ItemPlaces, usize)> {
        // The index counts the items of all files of the kind, in their order.
        let mut before = index;
        for (file, places) in self.files.iter().filter(|(file, _)| file.kind == kind) {
            // The subtraction fails in the file that has the item.
            match before.checked_sub(file.items) {
                None => return Some((file, places, before)),
                Some(rest) => before = rest,
            }
        }
        None
    }

    /// Returns each file with the lines on which its items begin.
    pub(super) fn item_lines(&self) -> impl Iterator<Item = (&SourceFile, HashSet<usize>)> {
        self.files.iter().map(|(file, places)| {
            let lines = (0..file.items).map(|index| places.position(index, "").0);
            (*file, lines.collect())
        })
    }
}
