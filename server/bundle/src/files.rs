//! The files of one tenant, on disk or in the binary.

use std::io;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Json};

use crate::error::BundleError;
use crate::yaml;

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
        let json =
            yaml::parse(&text).map_err(|message| BundleError::Syntax { file: file(), message })?;
        let invalid = |invalid| BundleError::Invalid { file: file(), invalid };
        json::check(&json).map_err(invalid)?;
        let mut problems = Problems::default();
        let value = read(&json, &Place::root(), &mut problems);
        problems.finish(value).map_err(invalid)
    }
}
