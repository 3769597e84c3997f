//! The limits of the types of a tenant (`docs/semantics.md`, section 12.9).

use portcullis_model::types::{TypeRecord, exceeded_limit};
use portcullis_runtime::error::OperationError;

/// Most bytes of the declarations of a tenant: each write of a policy or of entities reads them.
const MAX_BYTES: usize = 512 * 1_024;

/// Refuses more types, or larger ones, than a tenant may have.
pub(crate) fn must_be_few<'t>(
    types: impl IntoIterator<Item = &'t TypeRecord>,
) -> Result<(), OperationError> {
    let (mut count, mut bytes) = (0, 0);
    for declared in types {
        count += 1;
        // Texts and maps of them: there is nothing that could not be written.
        let TypeRecord { about, properties, relations, .. } = declared;
        let text = serde_json::to_string(&(about, properties, relations));
        bytes += text.map_or(0, |text| text.len());
    }
    let limit = match exceeded_limit(count) {
        None if bytes > MAX_BYTES => format!("types of at most {} KiB together", MAX_BYTES >> 10),
        None => return Ok(()),
        Some(limit) => limit,
    };
    Err(OperationError::Conflict(format!("the tenant may have {limit}; delete some first")))
}
