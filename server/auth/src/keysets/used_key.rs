//! The key that verified a token.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use jsonwebtoken::Algorithm;

use super::public_key::PublicKey;

/// The key that verifies a token, and the members of the token's header that chose it.
pub(crate) struct UsedKey {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    /// A key of the same material and members stays the same object when its set is fetched again.
    pub(super) key: Arc<PublicKey>,
    /// The number of the last fetched set that is known to choose the key.
    pub(super) set: AtomicU64,
}

impl UsedKey {
    /// Returns whether the key has signed `message`.
    pub(crate) fn has_signed(&self, message: &str, signature: &str) -> bool {
        self.key.has_signed(self.algorithm, message, signature)
    }

    /// Returns the bytes of the heap that the key does not share with its set.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.kid.as_ref().map_or(0, String::len)
    }
}

impl fmt::Debug for UsedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsedKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}
