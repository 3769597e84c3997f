//! No modules of a crate depend on each other in a circle, so that each can be read with only those below it in mind. A
//! module is a file, and also a file with the folder of its submodules.

use std::collections::{BTreeMap, BTreeSet};

use crate::module_tree::{Edge, ModuleTree};
use crate::source::{Crate, module, product_crates};
use crate::{expect_none, workspace};

/// Returns the circles of a crate: the modules of each and the lines that make it one.
fn circles(package: &Crate) -> anyhow::Result<Vec<String>> {
    let edges = ModuleTree::new(&package.modules)?.edges();
    let mut found = circles_of(package, &edges);
    let folders: BTreeSet<String> = package
        .modules
        .iter()
        .filter_map(|module| module.path.split_last())
        .map(|(_, folder)| folder.join("::"))
        .collect();
    for folder in folders {
        found.extend(circles_of(package, &edges_inside(&folder, &edges)));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Returns the edges between the submodules of `folder`, each with everything below it as one module.
pub(crate) fn edges_inside(folder: &str, edges: &[Edge]) -> Vec<Edge> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}::") };
    let child = |module: &str| {
        let name = module.strip_prefix(&prefix)?.split("::").next()?;
        (!name.is_empty()).then(|| format!("{prefix}{name}"))
    };
    let inside = edges.iter().filter_map(|edge| {
        let (from, to) = (child(&edge.from)?, child(&edge.to)?);
        (from != to).then(|| Edge { from, to, line: edge.line, named: edge.named.clone() })
    });
    inside.collect()
}

/// Returns the circles that `edges` make.
fn circles_of(package: &Crate, edges: &[Edge]) -> Vec<String> {
    let files: BTreeMap<String, String> = package
        .modules
        .iter()
        .map(|module| (module.path.join("::"), module.file.display().to_string()))
        .collect();
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for start in files.keys() {
        let circle: BTreeSet<&str> = reachable(start, edges)
            .into_iter()
            .filter(|module| reachable(module, edges).contains(start.as_str()))
            .collect();
        if !circle.is_empty() && known.insert(circle.clone()) {
            found.push(describe(package, &circle, edges, &files));
        }
    }
    found
}

/// Returns the modules that `start` depends on, over any number of steps.
fn reachable<'a>(start: &str, edges: &'a [Edge]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for edge in edges.iter().filter(|edge| edge.from == module) {
            if reached.insert(edge.to.as_str()) {
                open.push(&edge.to);
            }
        }
    }
    reached
}

/// Describes a circle: its files, and each line in which one of them names another.
fn describe(
    package: &Crate,
    circle: &BTreeSet<&str>,
    edges: &[Edge],
    files: &BTreeMap<String, String>,
) -> String {
    let names: Vec<&str> = circle.iter().map(|module| file_of(module, files)).collect();
    let mut lines = vec![format!(
        "{}: a circle of {} modules: {}",
        package.name,
        names.len(),
        names.join(", ")
    )];
    let mut uses: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for edge in edges
        .iter()
        .filter(|edge| circle.contains(edge.from.as_str()) && circle.contains(edge.to.as_str()))
    {
        let named = uses.entry((edge.from.as_str(), edge.to.as_str())).or_default();
        named.push(format!("`{}` in line {}", edge.named, edge.line));
    }
    for ((from, to), named) in uses {
        lines.push(format!(
            "    {} names of {}: {}",
            file_of(from, files),
            file_of(to, files),
            named.join(", ")
        ));
    }
    lines.join("\n")
}

fn file_of<'a>(module: &'a str, files: &'a BTreeMap<String, String>) -> &'a str {
    files.get(module).map_or(module, String::as_str)
}

#[test]
fn no_crate_has_a_circle_of_modules() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for package in product_crates(&workspace::metadata()?)? {
        faults.extend(circles(&package)?);
    }
    expect_none(&faults)
}

#[test]
fn a_circle_is_found() -> anyhow::Result<()> {
    let a = module(&["a"], "use crate::b::f; pub struct X;")?;
    let b = module(&["b"], "pub fn f(x: &super::c::Y) {}")?;
    let c = module(&["c"], "pub struct Y(crate::X);")?;
    let root = module(&[], "pub use a::X; pub use b::f;")?;
    let package = Crate { name: "sample".to_owned(), modules: vec![root, a, b, c] };
    let found = circles(&package)?;
    anyhow::ensure!(
        found.len() == 1 && found.iter().all(|circle| circle.contains("3 modules")),
        "{found:?}"
    );
    Ok(())
}

#[test]
fn a_circle_through_a_submodule_is_found() -> anyhow::Result<()> {
    let a = module(&["a"], "use crate::b::f;")?;
    let error = module(&["a", "error"], "pub struct Error;")?;
    let b = module(&["b"], "pub fn f() -> crate::a::error::Error { todo!() }")?;
    let package = Crate { name: "sample".to_owned(), modules: vec![module(&[], "")?, a, error, b] };
    let found = circles(&package)?;
    anyhow::ensure!(
        found.len() == 1 && found.iter().all(|circle| circle.contains("2 modules")),
        "{found:?}"
    );
    Ok(())
}
