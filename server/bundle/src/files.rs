//! The files of one tenant, on disk or in the binary.

use std::io;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Json};

use crate::error::BundleError;
use crate::item_files::{ItemKind, SourceFile};
use crate::positions;
use crate::registry::ItemWarning;
use crate::users::TENANT_FILE;
use crate::yaml::{self, YamlFault};

/// The files of one tenant, on disk or in the binary.
pub(super) struct Files<T> {
    /// The folder that a message names before a file's name.
    pub(super) folder: String,
    /// Gives a file's text by its name.
    pub(super) text: T,
}

impl<T: Fn(&str) -> io::Result<String>> Files<T> {
    /// Reads one file as strictly as a request body.
    pub(super) fn read<V>(
        &self,
        name: &str,
        read: impl for<'j> FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<V>,
    ) -> Result<V, BundleError> {
        let file = || format!("{}/{name}", self.folder);
        let text =
            (self.text)(name).map_err(|error| BundleError::Unreadable { file: file(), error })?;
        let json = yaml::parse(&text).map_err(|fault| syntax(file(), fault))?;
        let invalid = |invalid| BundleError::Invalid(positions::describe(&file(), &text, &invalid));
        // All other files are lists.
        if matches!(json, Json::Null) && name != TENANT_FILE {
            let what = "expected an array, not null; write `[]` if there are none";
            return Err(BundleError::Invalid(format!("{}:1:1: {what}", file())));
        }
        json::check(&json).map_err(invalid)?;
        let mut problems = Problems::default();
        let value = read(&json, &Place::root(), &mut problems);
        problems.finish(value).map_err(invalid)
    }

    /// Returns a list with `items` items as a source of findings; `None` if the file is missing.
    pub(super) fn source(&self, name: &str, kind: ItemKind, items: usize) -> Option<SourceFile> {
        let text = (self.text)(name).ok()?;
        Some(SourceFile { path: format!("{}/{name}", self.folder), kind, items, text })
    }

    /// Returns the warnings about the items of a file as lines with their places.
    pub(super) fn warnings(&self, name: &str, warnings: &[ItemWarning]) -> Vec<String> {
        if warnings.is_empty() {
            return vec![];
        }
        // A file that is gone since it was read has no places.
        let text = (self.text)(name).unwrap_or_default();
        positions::describe_warnings(&format!("{}/{name}", self.folder), &text, warnings)
    }
}

/// Returns the error about a file that is not YAML.
fn syntax(file: String, YamlFault { position, message }: YamlFault) -> BundleError {
    let place = match position {
        Some((line, column)) => format!("{file}:{line}:{column}"),
        None => file,
    };
    BundleError::Syntax { place, message }
}
