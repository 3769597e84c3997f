//! The files of one tenant, on disk or in the binary.

use std::io;

use portcullis_engine::invalid::{Invalid, Place, Problems};
use portcullis_engine::json::{self, Json};

use crate::error::BundleError;
use crate::item_files::{ItemKind, SourceFile};
use crate::kinds::FolderKind;
use crate::list_files::Listed;
use crate::positions;
use crate::registry::ItemWarning;
use crate::sources::FileSource;
use crate::unique::SeenNames;
use crate::yaml::{self, YamlFault};

/// The files of one tenant.
pub(super) struct Files<S> {
    /// The folder that a message names before a file's name.
    pub(super) folder: String,
    pub(super) source: S,
}

impl<S: FileSource> Files<S> {
    /// Reads one file as strictly as a request body.
    pub(super) fn read<V>(
        &self,
        name: &str,
        read: impl for<'j> FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
    ) -> Result<V, BundleError> {
        let text = self.source.text(name).map_err(|error| self.unreadable(name, error))?;
        self.read_text(name, &text, read)
    }

    /// Reads one file if it is there.
    pub(super) fn read_optional<V>(
        &self,
        name: &str,
        read: impl for<'j> FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
    ) -> Result<Option<V>, BundleError> {
        match self.source.text(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(name, error)),
            Ok(text) => self.read_text(name, &text, read).map(Some),
        }
    }

    /// Reads the items of a list: first from its file, then from the files in its folder, in the order of their names.
    /// No two items may have the same `name_of`, which messages call `what`.
    pub(super) fn read_list<V>(
        &self,
        list: &FolderKind,
        read: impl for<'j> Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<Vec<V>>,
        what: &'static str,
        name_of: impl Fn(&V) -> String,
    ) -> Result<Listed<V>, BundleError> {
        let (mut listed, mut seen) = (Listed::default(), SeenNames::new(what));
        for (file, text) in self.texts(list)? {
            let items = self.read_text(&file, &text, |json, at, problems| {
                if matches!(json, Json::Null) {
                    problems.expected(at, "an array, not null; write `[]` if there are none");
                    return None;
                }
                let items = read(json, at, problems)?;
                seen.add(&file, items.iter().map(&name_of), at, problems);
                Some(items)
            })?;
            listed.add(file, items);
        }
        Ok(listed)
    }

    /// Returns the warnings about the items of a list as lines with their places.
    pub(super) fn warnings<V>(
        &self,
        listed: &Listed<V>,
        mut warnings: Vec<ItemWarning>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for part in listed.parts() {
            // Warnings count the items of the whole list, places the items of one file.
            let (own, later) = warnings.into_iter().partition(|one| one.index < part.end);
            let own: Vec<_> = Vec::into_iter(own)
                .map(|one: ItemWarning| ItemWarning { index: one.index - part.start, ..one })
                .collect();
            warnings = later;
            if own.is_empty() {
                continue;
            }
            // A file that is gone since it was read has no places.
            let text = self.source.text(&part.file).unwrap_or_default();
            lines.extend(positions::describe_warnings(&self.path(&part.file), &text, &own));
        }
        lines
    }

    /// Returns the place of a value as messages name it: file, line and column.
    pub(super) fn place(&self, name: &str, pointer: &str) -> String {
        let text = self.source.text(name).unwrap_or_default();
        positions::place(&self.path(name), &text, pointer)
    }

    /// Returns the files of a list with their texts.
    fn texts(&self, list: &FolderKind) -> Result<Vec<(String, String)>, BundleError> {
        let names = self.source.names(list.name());
        let names = names.map_err(|error| self.unreadable(list.name(), error))?;
        let names: Vec<_> = names.iter().filter_map(|name| list.file_in_folder(name)).collect();
        let mut texts = Vec::with_capacity(names.len() + 1);
        match self.source.text(list.file()) {
            Ok(text) => texts.push((list.file().to_owned(), text)),
            // The folder alone makes a list; without either the list is missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !names.is_empty() => {}
            Err(error) => return Err(self.unreadable(list.file(), error)),
        }
        for name in names {
            let text = self.source.text(&name).map_err(|error| self.unreadable(&name, error))?;
            texts.push((name, text));
        }
        Ok(texts)
    }

    fn read_text<V>(
        &self,
        name: &str,
        text: &str,
        read: impl for<'j> FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
    ) -> Result<V, BundleError> {
        let json = yaml::parse(text).map_err(|fault| syntax(self.path(name), fault))?;
        json::check(&json).map_err(|invalid| self.invalid(name, text, &invalid))?;
        let mut problems = Problems::default();
        let value = read(&json, &Place::root(), &mut problems);
        problems.finish(value).map_err(|invalid| self.invalid(name, text, &invalid))
    }

    /// Returns the files of a list, for the places of findings. A file that is gone since it was read has no places.
    pub(super) fn item_files<V>(&self, kind: ItemKind, listed: &Listed<V>) -> Vec<SourceFile> {
        let parts = listed.parts().iter();
        parts.map(|part| self.item_file(kind, &part.file, part.end - part.start)).collect()
    }

    /// Returns a file with `items` items of a kind.
    pub(super) fn item_file(&self, kind: ItemKind, name: &str, items: usize) -> SourceFile {
        let text = self.source.text(name).unwrap_or_default();
        SourceFile { path: self.path(name), kind, items, text }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn invalid(&self, name: &str, text: &str, invalid: &Invalid) -> BundleError {
        BundleError::Invalid(positions::describe(&self.path(name), text, invalid))
    }

    fn unreadable(&self, name: &str, error: io::Error) -> BundleError {
        BundleError::Unreadable { file: self.path(name), error }
    }
}

/// Returns the error about a file that is not YAML.
pub(super) fn syntax(file: String, YamlFault { position, message }: YamlFault) -> BundleError {
    let place = match position {
        Some((line, column)) => format!("{file}:{line}:{column}"),
        None => file,
    };
    BundleError::Syntax { place, message }
}
