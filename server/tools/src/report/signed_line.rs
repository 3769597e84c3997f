//! Lines with a sign.

/// A line with its sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignedLine {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

/// The sign before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Added,
    Changed,
    Removed,
    /// Only the owner changes.
    Owner,
    Plain,
}

impl SignedLine {
    pub(crate) fn new(sign: Sign, text: String) -> Self {
        Self { sign, text }
    }

    pub(crate) fn plain(text: String) -> Self {
        Self::new(Sign::Plain, text)
    }
}
