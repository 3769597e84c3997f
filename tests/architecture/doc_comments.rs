//! A doc comment says what its item is or does. It does not open with a question word or a pronoun.

use crate::{expect_none, workspace};

const FORBIDDEN: [&str; 11] =
    ["How", "Its", "Of", "The same", "Theirs", "What", "When", "Where", "Who", "Whose", "Why"];

/// Returns the doc comments of a file that open with a forbidden word.
fn faults(file: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut before = "";
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        for marker in ["///", "//!"] {
            let Some(comment) = line.strip_prefix(marker).filter(|_| !before.starts_with(marker))
            else {
                continue;
            };
            if let Some(word) = FORBIDDEN.iter().find(|word| opens_with(comment.trim_start(), word))
            {
                faults.push(format!("{file}:{number} opens with `{word}`"));
            }
        }
        before = line;
    }
    faults
}

fn opens_with(comment: &str, word: &str) -> bool {
    comment
        .strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn doc_comments_say_what_their_item_is_or_does() -> anyhow::Result<()> {
    let files = workspace::text_files(&["rs"])?;
    let found: Vec<String> =
        files.iter().flat_map(|file| faults(&file.path.to_string_lossy(), &file.text)).collect();
    expect_none(&found)
}

#[test]
fn a_question_word_is_found() -> anyhow::Result<()> {
    for comment in [
        "    /// What it does.",
        "//! The same for lists.",
        "/// Whose key this is",
        "///\n/// x\nfn f()\n/// Of all.",
    ] {
        anyhow::ensure!(faults("sample.rs", comment).len() == 1, "`{comment}`");
    }
    for comment in ["/// Whatever.", "/// Returns a\n/// What", "// What", "/// Offers."] {
        anyhow::ensure!(faults("sample.rs", comment).is_empty(), "`{comment}`");
    }
    Ok(())
}
