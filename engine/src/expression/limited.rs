//! A text that does not grow beyond a limit.

use std::fmt::{self, Write};

/// A text of at most so many bytes. To write more is an error.
pub(super) struct Limited {
    text: String,
    most: usize,
}

impl Limited {
    /// Makes an empty text of at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), most }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl Write for Limited {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if part.len() > self.most - self.text.len() {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}
