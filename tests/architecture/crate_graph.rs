//! The crates depend on each other as `crates.txt` beside this file draws it: a line for each crate of the product, with the
//! crates of this repository that it depends on. `BLESS=1 cargo test -p portcullis-architecture crate_graph` draws it again.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::Result;
use cargo_metadata::{DependencyKind, Metadata};

use crate::drawing::Drawing;
use crate::workspace;

const DRAWING: Drawing = Drawing { file: "tests/architecture/crates.txt", test: "crate_graph" };

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

#[test]
fn the_crates_depend_on_each_other_as_drawn() -> Result<()> {
    DRAWING.expect(&draw(&workspace::metadata()?)?)
}

#[test]
fn a_dependency_that_is_not_drawn_is_found() -> Result<()> {
    DRAWING.compare("a -> b\nb\n", "a -> b\nb\n")?;
    anyhow::ensure!(DRAWING.compare("a -> b\nb\n", "a -> b\nb -> a\n").is_err());
    Ok(())
}
