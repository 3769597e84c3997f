//! The bound of the content of a tenant that is read whole.

use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, content_size};

/// Most bytes of content that are read: each takes several times its size in memory.
const MAX_CONTENT: i64 = 256 << 20;

/// Refuses the transaction's tenant if it has too much content.
///
/// # Errors
/// The content is larger than 256 MiB, or the store failed.
pub(crate) async fn must_fit(tx: &mut Tx) -> Result<(), OperationError> {
    must_be_within(content_size::bytes(tx).await?)
}

/// Refuses content that takes too many `bytes`.
///
/// # Errors
/// There are more than 256 MiB.
pub(crate) fn must_be_within(bytes: i64) -> Result<(), OperationError> {
    if bytes > MAX_CONTENT {
        let what = format!("the tenant has more than {} MiB of content", MAX_CONTENT >> 20);
        return Err(OperationError::Conflict(what));
    }
    Ok(())
}
