//! The text of a token with its hash, so that a long text is hashed once.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use papaya::Equivalent;

/// The text of a token, borrowed or shared, with its hash by the cache that knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenText<T> {
    hash: u64,
    text: T,
}

impl<'t> TokenText<&'t str> {
    pub(crate) fn new(text: &'t str, hasher: &impl BuildHasher) -> Self {
        Self { hash: hasher.hash_one(text), text }
    }

    /// Returns the text itself.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns a copy that several places share.
    pub(crate) fn shared(&self) -> TokenText<Arc<str>> {
        TokenText { hash: self.hash, text: self.text.into() }
    }
}

impl<T> Hash for TokenText<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<TokenText<Arc<str>>> for TokenText<&str> {
    fn equivalent(&self, key: &TokenText<Arc<str>>) -> bool {
        self.hash == key.hash && *self.text == *key.text
    }
}
