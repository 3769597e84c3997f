//! The Rust code that documents show is code of the repository.
//!
//! A block of Rust follows a comment with the file that it is quoted from, such as
//! `<!-- policies/resolvers/network-zone/src/lib.rs -->`. The block occurs in that file, line by line.

use anyhow::{Context, Result};

use crate::expect_none;
use crate::workspace::{root, text_files};

const FENCE: &str = "```";

/// A block of Rust in a document.
struct Block {
    /// The line of its fence, from 1.
    line: usize,
    /// The file in the comment above it.
    source: Option<String>,
    text: String,
}

/// Returns the blocks of Rust of a document.
fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = (1..).zip(document.lines());
    while let Some((line, text)) = lines.next() {
        if text == "```rust" {
            let code: Vec<&str> =
                lines.by_ref().map(|(_, text)| text).take_while(|text| *text != FENCE).collect();
            let source = before.strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
            let source = source.map(str::to_owned);
            blocks.push(Block { line, source, text: code.join("\n") + "\n" });
        }
        before = text;
    }
    blocks
}

/// Returns the faults of the blocks of `document`. `read` gives the text of a file.
fn faults(
    path: &str,
    document: &str,
    read: impl Fn(&str) -> Result<String>,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for Block { line, source, text } in blocks(document) {
        let Some(source) = source else {
            faults.push(format!("{path}:{line}: no comment names the file of this code"));
            continue;
        };
        if !read(&source)?.contains(&text) {
            faults.push(format!("{path}:{line}: `{source}` does not have this code"));
        }
    }
    Ok(faults)
}

#[test]
fn documents_quote_code_of_the_repository() -> Result<()> {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).context(file.to_owned());
    let mut found = Vec::new();
    let mut quoted = 0;
    for file in text_files(&["md"])?.iter().filter(|file| file.path.starts_with("docs")) {
        quoted += blocks(&file.text).len();
        found.extend(faults(&file.path.display().to_string(), &file.text, read)?);
    }
    anyhow::ensure!(quoted > 0, "no document has Rust code");
    expect_none(&found)
}

#[test]
fn code_that_is_not_in_its_file_is_found() -> Result<()> {
    let read = |_: &str| Ok("fn a() {}\nfn b() {}\n".to_owned());
    for (document, expected) in [
        ("<!-- x.rs -->\n```rust\nfn a() {}\nfn b() {}\n```\n", 0),
        ("<!-- x.rs -->\n```rust\nfn b() {}\n```\n", 0),
        ("<!-- x.rs -->\n```rust\nfn a() { }\n```\n", 1),
        ("<!-- x.rs -->\n\n```rust\nfn a() {}\n```\n", 1),
        ("```rust\nfn a() {}\n```\n", 1),
        ("```sh\nfn c() {}\n```\n", 0),
    ] {
        let found = faults("document", document, read)?;
        anyhow::ensure!(found.len() == expected, "{document}: {found:?}");
    }
    Ok(())
}
