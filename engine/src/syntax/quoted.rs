//! Strings as the lexer reads them.

use std::fmt::{self, Display, Write as _};

/// A string in quotes, with the escapes of the lexer.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            if matches!(char, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(char)?;
        }
        f.write_char('"')
    }
}
