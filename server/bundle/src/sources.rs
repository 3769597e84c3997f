//! The places where the files of a tenant are: a folder on disk, or the binary.

use std::path::Path;
use std::{fs, io};

/// The place where the files of one tenant are.
pub(super) trait FileSource {
    /// Returns the text of a file, by its path inside the tenant's folder.
    fn text(&self, name: &str) -> io::Result<String>;

    /// Returns the names of the files in a folder of the tenant, sorted; none if there is no such folder.
    fn names(&self, folder: &str) -> io::Result<Vec<String>>;
}

/// A folder on disk.
pub(super) struct DiskFolder<'p>(pub(super) &'p Path);

impl FileSource for DiskFolder<'_> {
    fn text(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.0.join(name))
    }

    fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.0.join(folder)) {
            Err(error) if is_no_folder(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not text has no ending of ours either.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
