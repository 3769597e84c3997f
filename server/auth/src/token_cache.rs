//! The verified tokens, in memory: a token is verified once and used many times (`docs/semantics.md`, section 6.4).

use std::sync::{Arc, Weak};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use portcullis_fairness::{ShareBounds, TenantShares};

use crate::callers::TokenHolder;
use crate::keysets::UsedKey;
use crate::token::{Validity, Verifier};
use crate::token_text::TokenText;

/// Most bytes of all tokens: some 20,000 of 1 KiB with a dozen claims. A token that is not here costs a signature.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of the tokens of one tenant. The other half is free for the tokens of others.
const MAX_BYTES_OF_TENANT: usize = MAX_BYTES / 2;
/// Bytes of a token beside its texts: the records, and its places in the map and in the queue of its tenant.
const FIXED_BYTES: usize = size_of::<CachedToken>() + size_of::<TokenHolder>() + 192;

/// The tokens that were verified, by their whole text. A full cache drops the oldest token of a tenant that has the
/// most bytes, so that a tenant with many tokens drops its own.
///
/// Readers take no lock. Nothing here proves a caller: a reader compares what the token's proof depended on.
#[derive(Debug)]
pub(crate) struct TokenCache {
    tokens: papaya::HashMap<SharedText, Arc<CachedToken>, ahash::RandomState>,
    /// Hashes the texts. Random, so that nobody can choose tokens with one hash.
    hasher: ahash::RandomState,
    /// Held while tokens are added or removed. A token weighs its bytes.
    shares: Mutex<TenantShares<SharedText>>,
}

type SharedText = TokenText<Arc<str>>;

/// A token that was verified, with everything that its proof depended on.
#[derive(Debug)]
pub(crate) struct CachedToken {
    issuer: String,
    /// Identifies the verifier. It does not keep it alive: a removed provider fetches no more keys.
    verifier: Weak<Verifier>,
    key: UsedKey,
    validity: Validity,
    holder: Arc<TokenHolder>,
}

impl CachedToken {
    /// Returns a token that `verifier` has verified by `key`.
    pub(crate) fn new(
        verifier: &Arc<Verifier>,
        key: UsedKey,
        validity: Validity,
        holder: &Arc<TokenHolder>,
    ) -> Self {
        Self {
            issuer: verifier.issuer().to_owned(),
            verifier: Arc::downgrade(verifier),
            key,
            validity,
            holder: Arc::clone(holder),
        }
    }

    /// Returns the issuer of the token.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the caller that the token proves.
    pub(crate) fn holder(&self) -> Arc<TokenHolder> {
        Arc::clone(&self.holder)
    }

    /// Returns whether `verifier`, which the issuer of the token has at present, would verify the token at `now` with the
    /// same result: it is the same verifier, still has the key, and the token is valid.
    pub(crate) fn is_good(&self, verifier: &Arc<Verifier>, now: DateTime<Utc>) -> bool {
        // The weak pointer keeps the memory from being used again, so that equal addresses are one verifier.
        std::ptr::eq(self.verifier.as_ptr(), Arc::as_ptr(verifier))
            && verifier.has(&self.key)
            && self.validity.includes(now)
    }

    fn weight(&self, text: &str) -> usize {
        let own = self.issuer.len() + self.key.heap_bytes();
        FIXED_BYTES + text.len() + own + self.holder.heap_bytes()
    }
}

impl Default for TokenCache {
    fn default() -> Self {
        Self::new(ShareBounds { all: MAX_BYTES, tenant: MAX_BYTES_OF_TENANT })
    }
}

impl TokenCache {
    fn new(bounds: ShareBounds) -> Self {
        Self {
            tokens: papaya::HashMap::default(),
            hasher: ahash::RandomState::new(),
            shares: Mutex::new(TenantShares::new(bounds)),
        }
    }

    /// Returns the text of a token, to find and keep it by.
    pub(crate) fn presented<'t>(&self, text: &'t str) -> TokenText<&'t str> {
        TokenText::new(text, &self.hasher)
    }

    /// Returns the caller of the token with this text, if `is_good` says that the token still proves it.
    pub(crate) fn find(
        &self,
        text: TokenText<&str>,
        is_good: impl FnOnce(&CachedToken) -> bool,
    ) -> Option<Arc<TokenHolder>> {
        let tokens = self.tokens.pin();
        tokens.get(&text).filter(|token| is_good(token)).map(|token| token.holder())
    }

    /// Keeps a token in place of one with the same text.
    pub(crate) fn keep(&self, presented: TokenText<&str>, token: CachedToken) {
        let (text, weight) = (presented.shared(), token.weight(presented.text()));
        let token = Arc::new(token);
        let mut shares = self.shares.lock();
        let tokens = self.tokens.pin();
        if let Some(before) = tokens.insert(text.clone(), Arc::clone(&token)) {
            if before.holder.tenant() == token.holder.tenant()
                && before.weight(presented.text()) == weight
            {
                // The tenant has this weight of it already.
                return;
            }
            shares.remove(before.holder.tenant(), &text);
        }
        for dropped in shares.add(token.holder.tenant(), text, weight) {
            tokens.remove(&dropped);
        }
    }

    /// Drops the tokens of `tenant`, to free their memory.
    pub(crate) fn forget(&self, tenant: &str) {
        let mut shares = self.shares.lock();
        let tokens = self.tokens.pin();
        for text in shares.take(tenant) {
            tokens.remove(&text);
        }
    }

    /// Returns the number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests;
