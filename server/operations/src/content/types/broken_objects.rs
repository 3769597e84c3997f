//! The list of the stored objects that a change of types would break.

use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::{BrokenObject, BrokenObjects, WriteRefusal};

/// Most broken objects that a refusal names.
const MAX_NAMED: usize = 20;

/// Refuses a change of types that breaks something.
pub(crate) fn must_be_none(broken: BrokenObjects) -> Result<(), OperationError> {
    if broken.count == 0 { Ok(()) } else { Err(WriteRefusal::TypesBreak(broken).into()) }
}

/// Notes a broken object.
pub(crate) fn note(
    broken: &mut BrokenObjects,
    kind: &'static str,
    name: impl FnOnce() -> String,
    message: String,
) {
    broken.count += 1;
    if broken.first.len() < MAX_NAMED {
        broken.first.push(BrokenObject { kind, name: name(), message });
    }
}
