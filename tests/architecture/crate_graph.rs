//! The crates depend on each other as ARCHITECTURE.md draws it, in its block of `crates`. `BLESS=1 cargo test -p
//! portcullis-architecture crate_graph` draws the block again.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata};

use crate::workspace;

const DOCUMENT: &str = "ARCHITECTURE.md";
const OPENING: &str = "```crates\n";
const CLOSING: &str = "```";
const HINT: &str = "`BLESS=1 cargo test -p portcullis-architecture crate_graph` draws it again";

/// Draws the normal dependencies between the packages of the product: a line per package.
fn draw(metadata: &Metadata) -> Result<String> {
    let packages = workspace::product_packages(metadata);
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_ref()).collect();
    let mut drawing = String::new();
    for package in packages {
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal && !dependency.optional);
        let on: BTreeSet<&str> = normal
            .map(|dependency| dependency.name.as_str())
            .filter(|name| names.contains(name))
            .collect();
        if on.is_empty() {
            writeln!(drawing, "{}", package.name)?;
        } else {
            let on: Vec<&str> = on.into_iter().collect();
            writeln!(drawing, "{} -> {}", package.name, on.join(", "))?;
        }
    }
    Ok(drawing)
}

/// Returns where the drawing of a document begins and ends.
fn drawing_in(document: &str) -> Result<std::ops::Range<usize>> {
    let start =
        document.find(OPENING).context("the document has no block of `crates`")? + OPENING.len();
    let rest = document.get(start..).unwrap_or_default();
    Ok(start..start + rest.find(CLOSING).context("the block of `crates` has no end")?)
}

/// Checks that the drawing of `document` is `actual`.
fn check(document: &str, actual: &str) -> Result<()> {
    let drawn = document.get(drawing_in(document)?).unwrap_or_default();
    anyhow::ensure!(
        drawn == actual,
        "ARCHITECTURE.md draws:\n{}\ncargo has:\n{}\n{HINT}",
        only_in(drawn, actual),
        only_in(actual, drawn),
    );
    Ok(())
}

/// Returns the lines of `text` that `other` does not have.
fn only_in(text: &str, other: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !other.lines().any(|it| it == *line)).collect();
    lines.join("\n")
}

#[test]
fn the_crates_depend_on_each_other_as_drawn() -> Result<()> {
    let path = workspace::root().join(DOCUMENT);
    let document = std::fs::read_to_string(&path)?;
    let actual = draw(&workspace::metadata()?)?;
    if std::env::var_os("BLESS").is_some() {
        let mut document = document;
        document.replace_range(drawing_in(&document)?, &actual);
        return std::fs::write(&path, document).context("ARCHITECTURE.md");
    }
    check(&document, &actual)
}

#[test]
fn a_dependency_that_is_not_drawn_is_found() -> Result<()> {
    check("```crates\na -> b\nb\n```\n", "a -> b\nb\n")?;
    anyhow::ensure!(check("```crates\na -> b\nb\n```\n", "a -> b\nb -> a\n").is_err());
    Ok(())
}
