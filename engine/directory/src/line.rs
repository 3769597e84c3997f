//! A relation as a line of text: who can be stored in it, and which other relations give it
//! (`engine/directory/README.md`).
//!
//! ```
//! use portcullis_directory::Line;
//!
//! let line = Line::parse("[user,group#member]||(editor)||parent.viewer&&!parent.banned")?;
//! assert_eq!(line.to_string(), "[user, group#member] || editor || parent.viewer && !parent.banned");
//! # Ok::<(), portcullis_engine::invalid::Fault>(())
//! ```

mod cursor;
mod parser;
mod part;
mod printer;

use std::fmt;

use portcullis_engine::invalid::Fault;

pub(crate) use part::{Factor, LinePart, StoredSubjects, Subjects, Word};

/// The maximum length of a line, in bytes.
pub const MAX_LINE: usize = 4 * 1024;

/// The text of a relation, as it was read.
#[derive(Clone, Debug)]
pub struct Line(LinePart);

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// The first unexpected token and what is expected in its place, or the length.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > MAX_LINE {
            return Err(Fault::Expected(format!("a line of at most {MAX_LINE} bytes")));
        }
        parser::parse(text).map(Self)
    }

    pub(crate) fn whole(&self) -> &LinePart {
        &self.0
    }
}

impl fmt::Display for Line {
    /// Writes the one text of all lines that mean the same by their form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
