//! The claims of a token.

use std::borrow::Cow;

use portcullis_engine::{Json, json};
use self_cell::self_cell;

self_cell!(
    /// The claims of a token: a tree that borrows from the text of the payload, because most are never read again.
    pub struct Claims {
        owner: Vec<u8>,
        #[covariant]
        dependent: Json,
    }

    impl { Debug }
);

impl Claims {
    /// Reads the payload of a token; `None` if it is not a JSON object without duplicate keys.
    pub fn read(payload: Vec<u8>) -> Option<Self> {
        Self::try_new(payload, |payload| match json::parse(payload) {
            Ok(claims @ Json::Object(_)) => Ok(claims),
            _ => Err(()),
        })
        .ok()
    }

    /// Returns the claims as a tree.
    pub fn tree(&self) -> &Json<'_> {
        self.borrow_dependent()
    }

    /// Returns the text that the claims are read from.
    pub fn text(&self) -> &[u8] {
        self.borrow_owner()
    }

    /// Returns the bytes of the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.borrow_owner().capacity() + heap_bytes(self.tree())
    }
}

/// Returns the bytes of the heap that a claim takes.
fn heap_bytes(claim: &Json<'_>) -> usize {
    match claim {
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        Json::String(text) => owned_bytes(text),
        Json::Array(items) => size_of_val(&**items) + items.iter().map(heap_bytes).sum::<usize>(),
        Json::Object(members) => {
            let own = members.iter().map(|(name, value)| owned_bytes(name) + heap_bytes(value));
            size_of_val(&**members) + own.sum::<usize>()
        }
    }
}

/// Returns the bytes of a text that is a copy: one with an escape.
#[expect(clippy::ptr_arg, reason = "a text that is borrowed takes no bytes")]
fn owned_bytes(text: &Cow<'_, str>) -> usize {
    match text {
        Cow::Borrowed(_) => 0,
        Cow::Owned(text) => text.capacity(),
    }
}

#[cfg(test)]
mod tests;
