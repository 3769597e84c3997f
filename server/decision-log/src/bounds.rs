//! The bounds of the attributes of a record, and what a record says about attributes beyond them.

use std::collections::BTreeSet;

use crate::shared::TextUse;

/// The most bytes of the JSON text of an attribute.
pub(crate) const MAX_TEXT: usize = 64 * 1024;
/// The most lists and objects that enclose each other in an attribute.
pub(crate) const MAX_DEPTH: usize = 16;
/// The most items of lists that are hashed for one record. A hash takes a microsecond of the check.
pub(crate) const MAX_HASHED: usize = 1_000;

/// The part of the bounds that is left for the attributes of one record, and what is apart from its text.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Items of lists that may still be hashed.
    pub(crate) hashes: usize,
    /// The attributes that the record leaves out, by their paths.
    pub(crate) dropped: BTreeSet<String>,
    /// The place at which the JSON text of the record begins.
    pub(crate) start: usize,
    /// The texts that are apart, in the order of their places.
    pub(crate) uses: Vec<TextUse>,
}

impl Bounds {
    /// Returns the bounds of a record whose JSON text begins at `start` of its buffer.
    pub(crate) fn new(start: usize) -> Self {
        Self { hashes: MAX_HASHED, dropped: BTreeSet::new(), start, uses: Vec::new() }
    }

    /// Notes that the record leaves the attribute out.
    pub(crate) fn drop(&mut self, namespace: &str, name: &str) {
        self.dropped.insert(format!("{namespace}.{name}"));
    }
}

/// Returns whether the JSON text of an attribute is within the bounds of every attribute.
pub(crate) fn fits(text: &[u8]) -> bool {
    text.len() <= MAX_TEXT && depth(text) <= MAX_DEPTH
}

/// Returns how many lists and objects enclose the innermost value of a JSON text.
fn depth(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'[' | b'{')) {
        return 0;
    }
    let (mut depth, mut most, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text {
        // The order of the arms matters: brackets count only outside of texts, and an escaped `"` ends none.
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}
