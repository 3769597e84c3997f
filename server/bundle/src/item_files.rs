//! The texts of a folder's files, and the places of their items.

use crate::positions::Positions;
use crate::yaml_document::Position;

/// The kind of an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    Type,
    Resolver,
    Rule,
    Role,
    Condition,
    Policy,
    Case,
}

/// A file with a list of items. Several files of a kind follow each other as their items do.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as messages show it.
    pub path: String,
    pub kind: ItemKind,
    /// The number of items.
    pub items: usize,
    pub text: String,
}

/// The places of the items of a file.
#[derive(Debug)]
pub struct ItemPlaces {
    positions: Positions,
}

impl SourceFile {
    /// Reads the places of the items.
    pub fn places(&self) -> ItemPlaces {
        ItemPlaces { positions: Positions::new(&self.text) }
    }
}

impl ItemPlaces {
    /// Returns line and column, from 1, of the member at `pointer` of the item `index` of this file, or else of the next
    /// node around it.
    pub fn position(&self, index: usize, pointer: &str) -> (usize, usize) {
        let Position { line, column } = self.positions.find_value(&format!("/{index}{pointer}"));
        (line, column)
    }
}
