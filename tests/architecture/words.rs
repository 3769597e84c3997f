//! No identifier has a word that the glossary forbids.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use quote::ToTokens;

use crate::paths::each_identifier;
use crate::source::{Module, product_crates};
use crate::{expect_none, workspace};

/// Returns the words in the first column of the table `Not` and `But`.
fn forbidden(glossary: &str) -> Result<BTreeSet<String>> {
    let rows = glossary.lines().skip_while(|line| !line.starts_with("| Not |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let words: BTreeSet<String> =
        rows.filter_map(|row| row.split('`').nth(1)).map(str::to_owned).collect();
    anyhow::ensure!(!words.is_empty(), "docs/glossary.md has no table that begins with `| Not |`");
    Ok(words)
}

/// Returns the pieces of an identifier between underscores and capital letters, in lower case.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in identifier.chars() {
        if c == '_' || (c.is_uppercase() && was_lower) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c != '_') {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts
}

/// Returns the identifiers of a module that have a forbidden part.
fn faults(module: &Module, forbidden: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut visit = |name: String, line| {
        if let Some(word) = parts(&name).iter().find(|part| forbidden.contains(*part)) {
            faults.push(format!("{}:{line} `{name}` has the word `{word}`", module.file.display()));
        }
    };
    module.items.iter().for_each(|item| each_identifier(item.to_token_stream(), &mut visit));
    faults
}

#[test]
fn identifiers_use_the_words_of_the_glossary() -> Result<()> {
    let glossary = std::fs::read_to_string(workspace::root().join("docs/glossary.md"))
        .context("docs/glossary.md")?;
    let forbidden = forbidden(&glossary)?;
    let mut found = Vec::new();
    for package in product_crates(&workspace::metadata()?)? {
        package.modules.iter().for_each(|module| found.extend(faults(module, &forbidden)));
    }
    expect_none(&found)
}

#[test]
fn a_forbidden_word_is_found() -> Result<()> {
    let forbidden = forbidden("| Not | But |\n|---|---|\n| `lane` | queue |\n\n| `row` | x |\n")?;
    for name in ["lane", "lane_queue", "LaneQueue", "MAX_LANE", "queueLane"] {
        let module = crate::source::module(&["sample"], &format!("fn f() {{ m!({name}) }}"))?;
        anyhow::ensure!(faults(&module, &forbidden).len() == 1, "`{name}` is not found");
    }
    for name in ["plane", "row", "Planes"] {
        let module = crate::source::module(&["sample"], &format!("fn {name}() {{}}"))?;
        anyhow::ensure!(faults(&module, &forbidden).is_empty(), "`{name}` is found");
    }
    Ok(())
}
