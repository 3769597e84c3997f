//! The content of a tenant, as an export has it.

use portcullis_engine::Json;

use crate::folder_file::ExportError;

/// The content of a tenant that becomes files.
#[derive(Clone, Copy, Debug)]
pub struct ExportedContent<'c> {
    /// The id of the tenant.
    pub tenant: &'c str,
    /// The kinds, in the form of `GET /api/v1/export`.
    pub kinds: &'c Json<'c>,
    /// The descriptors of the modules, by the namespaces of their resolvers.
    pub descriptors: &'c [(String, Json<'c>)],
}

/// Returns the items of a kind.
pub(super) fn items<'c>(
    content: &ExportedContent<'c>,
    kind: &str,
) -> Result<Option<&'c [Json<'c>]>, ExportError> {
    match content.kinds.get(kind) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Array(items)) => Ok(Some(items)),
        Some(_) => Err(ExportError::Unexpected { kind: kind.to_owned(), expected: "a list" }),
    }
}
