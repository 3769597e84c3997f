//! A file of a tenant folder, written so that it reads as the content that it was written from.

use portcullis_engine::Json;
use portcullis_engine::json::Member;

use crate::yaml;
use crate::yaml_writer::{ItemLayout, list_text, object_text};

/// A file of a tenant folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// The path inside the folder.
    pub name: String,
    pub text: String,
}

/// A fault of content that cannot become files.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("expected {expected} from the service, not `{kind}`")]
    Unexpected { kind: String, expected: &'static str },
    #[error("the module of the resolver `{0}` has no descriptor")]
    Descriptor(String),
    #[error("{0}: its content cannot be written as YAML")]
    Unwritable(String),
}

/// Returns a file that is a list.
pub(super) fn list_file(
    name: &str,
    items: &[Json<'_>],
    layout: ItemLayout,
) -> Result<FolderFile, ExportError> {
    checked(name, list_text(items, layout), |json| json.as_array() == Some(items))
}

/// Returns a file that is an object.
pub(super) fn object_file(name: &str, members: &[Member<'_>]) -> Result<FolderFile, ExportError> {
    checked(name, object_text(members), |json| json.as_object() == Some(members))
}

/// Returns the file if its text reads as what it was written from.
fn checked(
    name: &str,
    text: String,
    is_same: impl Fn(&Json<'_>) -> bool,
) -> Result<FolderFile, ExportError> {
    let reads = yaml::parse(&text).is_ok_and(|json| is_same(&json));
    match reads {
        true => Ok(FolderFile { name: name.to_owned(), text }),
        false => Err(ExportError::Unwritable(name.to_owned())),
    }
}
