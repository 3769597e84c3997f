//! The crates depend on each other as `crates.txt` beside this file draws it: a line for each crate of the product, with the
//! crates of this repository that it depends on. `BLESS=1 cargo test -p portcullis-architecture crate_graph` draws it again.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata};

use crate::workspace;

const FILE: &str = "tests/architecture/crates.txt";
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

/// Checks that the drawing is `actual`.
fn check(drawn: &str, actual: &str) -> Result<()> {
    anyhow::ensure!(
        drawn == actual,
        "{FILE} draws:\n{}\ncargo has:\n{}\n{HINT}",
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
    let path = workspace::root().join(FILE);
    let actual = draw(&workspace::metadata()?)?;
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(&path, actual).context(FILE);
    }
    check(&std::fs::read_to_string(&path).context(FILE)?, &actual)
}

#[test]
fn a_dependency_that_is_not_drawn_is_found() -> Result<()> {
    check("a -> b\nb\n", "a -> b\nb\n")?;
    anyhow::ensure!(check("a -> b\nb\n", "a -> b\nb -> a\n").is_err());
    Ok(())
}
