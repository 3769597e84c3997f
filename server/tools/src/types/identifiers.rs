//! Identifiers that are made of names.

use std::collections::HashSet;

/// The form of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `DocumentType`
    Pascal,
    /// `documentType`
    Camel,
    /// `DOCUMENT_TYPE`
    Screaming,
}

/// The identifiers of one scope, each of which is made once.
pub(super) struct Identifiers(HashSet<String>);

impl Identifiers {
    /// Returns a scope in which these identifiers, with spaces between them, are taken.
    pub(super) fn new(reserved: &str) -> Self {
        Self(reserved.split_whitespace().map(str::to_owned).collect())
    }

    /// Makes the identifier of a name, from its ASCII letters and digits. The second of a form ends with `_2`.
    pub(super) fn make(&mut self, name: &str, shape: Shape) -> String {
        let base = shaped(name, shape);
        let mut identifier = base.clone();
        let mut number = 2;
        while !self.0.insert(identifier.clone()) {
            identifier = format!("{base}_{number}");
            number += 1;
        }
        identifier
    }
}

fn shaped(name: &str, shape: Shape) -> String {
    let words = name.split(|char: char| !char.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).enumerate().map(|(index, word)| {
        // A word is ASCII and not empty.
        let (first, rest) = word.split_at(1);
        match shape {
            Shape::Screaming => word.to_ascii_uppercase(),
            Shape::Camel if index == 0 => first.to_ascii_lowercase() + rest,
            Shape::Pascal | Shape::Camel => first.to_ascii_uppercase() + rest,
        }
    });
    let separator = if shape == Shape::Screaming { "_" } else { "" };
    let joined = words.collect::<Vec<_>>().join(separator);
    match joined.starts_with(|char: char| char.is_ascii_alphabetic()) {
        true => joined,
        false => format!("N{joined}"),
    }
}
