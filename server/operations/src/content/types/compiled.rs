//! Stored types as conditions and entities are checked against them.

use portcullis_engine::types::Types;
use portcullis_model::types::{TypeRecord, declared_types};

/// Returns types as conditions and entities are checked against them.
pub(crate) fn compiled<'t>(types: impl IntoIterator<Item = &'t TypeRecord>) -> Types {
    declared_types(types.into_iter().map(TypeRecord::declared))
}
