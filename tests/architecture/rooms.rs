//! The modules of a large crate stand in a few rooms, and the rooms use each other one way, as `rooms.txt` beside this file
//! draws it: under each crate its rooms from the lowest up, each with those that it names. A file beside the rooms is a room
//! of its own. `BLESS=1 cargo test -p portcullis-architecture rooms` draws it again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::Result;

use crate::circles::edges_inside;
use crate::drawing::Drawing;
use crate::module_tree::ModuleTree;
use crate::source::{Crate, module, product_crates};
use crate::workspace;

const DRAWING: Drawing = Drawing { file: "tests/architecture/rooms.txt", test: "rooms" };

/// The crates that are divided into rooms.
const DIVIDED: [&str; 2] = ["portcullis-operations", "portcullis-storage"];

/// The most rooms of a crate that a reader holds in mind.
const MAX_ROOMS: usize = 12;

/// Draws the rooms of a crate: a line for each, after the lines of the rooms that it names.
fn draw(package: &Crate) -> Result<String> {
    let mut open = rooms(package)?;
    anyhow::ensure!(
        open.len() <= MAX_ROOMS,
        "{} has {} rooms, more than {MAX_ROOMS}: put each file into a room",
        package.name,
        open.len()
    );
    let mut drawing = format!("{}\n", package.name);
    while !open.is_empty() {
        let lowest =
            open.iter().find(|(_, named)| !named.iter().any(|room| open.contains_key(room)));
        let Some((room, named)) = lowest.map(|(room, named)| (room.clone(), named.clone())) else {
            let circle: Vec<&str> = open.keys().map(String::as_str).collect();
            anyhow::bail!(
                "{}: rooms name each other both ways: {}",
                package.name,
                circle.join(", ")
            );
        };
        let named: Vec<String> = named.into_iter().collect();
        let arrow = if named.is_empty() { "" } else { " -> " };
        writeln!(drawing, "    {room}{arrow}{}", named.join(", "))?;
        open.remove(&room);
    }
    Ok(drawing)
}

/// Returns the rooms of a crate, each with those that it names.
fn rooms(package: &Crate) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let first = package.modules.iter().filter_map(|module| module.path.first());
    let mut rooms: BTreeMap<String, BTreeSet<String>> =
        first.map(|room| (room.clone(), BTreeSet::new())).collect();
    let edges = ModuleTree::new(&package.modules)?.edges();
    for edge in edges_inside("", &edges) {
        rooms.entry(edge.from).or_default().insert(edge.to);
    }
    Ok(rooms)
}

#[test]
fn the_rooms_name_each_other_as_drawn() -> Result<()> {
    let crates = product_crates(&workspace::metadata()?)?;
    let mut drawing = String::new();
    for name in DIVIDED {
        let package = crates.iter().find(|package| package.name == name);
        drawing += &draw(package.ok_or_else(|| anyhow::anyhow!("no crate {name}"))?)?;
    }
    DRAWING.expect(&drawing)
}

/// Returns a crate of two rooms, in which a file of the lower one has this text.
fn two_rooms(low: &str) -> Result<Crate> {
    let modules = vec![
        module(&[], "mod high; mod low; pub use high::ask;")?,
        module(&["high"], "pub mod ask;")?,
        module(&["high", "ask"], "use crate::low::content::Content; pub struct Ask;")?,
        module(&["low"], "pub mod content;")?,
        module(&["low", "content"], low)?,
    ];
    Ok(Crate { name: "sample".to_owned(), modules })
}

#[test]
fn an_arrow_up_is_found() -> Result<()> {
    let drawn = draw(&two_rooms("pub struct Content;")?)?;
    anyhow::ensure!(drawn == "sample\n    low\n    high -> low\n", "{drawn}");
    for up in ["use crate::high::ask::Ask;", "use crate::ask::Ask;"] {
        let found = draw(&two_rooms(&format!("{up} pub struct Content;"))?);
        anyhow::ensure!(found.is_err_and(|error| error.to_string().contains("high, low")), "{up}");
    }
    Ok(())
}

#[test]
fn a_file_for_itself_is_found() -> Result<()> {
    let mut package = two_rooms("pub struct Content;")?;
    let drawn = draw(&package)?;
    package.modules.push(module(&["beside"], "")?);
    anyhow::ensure!(DRAWING.compare(&drawn, &draw(&package)?).is_err());
    for number in 0..MAX_ROOMS {
        package.modules.push(module(&[&format!("beside_{number}")], "")?);
    }
    anyhow::ensure!(draw(&package).is_err());
    Ok(())
}
