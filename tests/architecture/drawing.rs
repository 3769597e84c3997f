//! Drawings of the code in text files beside this one. A test compares each with the code, and `BLESS=1` draws it again.

use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace;

/// A drawing.
pub(crate) struct Drawing {
    /// The path of the file in the repository.
    pub(crate) file: &'static str,
    /// The test that draws it.
    pub(crate) test: &'static str,
}

impl Drawing {
    /// Checks that the file is `actual`, or writes it with `BLESS=1`.
    pub(crate) fn expect(&self, actual: &str) -> Result<()> {
        let path = workspace::root().join(Path::new(self.file));
        if std::env::var_os("BLESS").is_some() {
            return std::fs::write(&path, actual).context(self.file);
        }
        self.compare(&std::fs::read_to_string(&path).context(self.file)?, actual)
    }

    /// Checks that the file with the text `drawn` is `actual`.
    pub(crate) fn compare(&self, drawn: &str, actual: &str) -> Result<()> {
        anyhow::ensure!(
            drawn == actual,
            "{} draws:\n{}\nthe code has:\n{}\n`BLESS=1 cargo test -p portcullis-architecture {}` draws it again",
            self.file,
            only_in(drawn, actual),
            only_in(actual, drawn),
            self.test,
        );
        Ok(())
    }
}

/// Returns the lines of `text` that `other` does not have.
fn only_in(text: &str, other: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !other.lines().any(|it| it == *line)).collect();
    lines.join("\n")
}
