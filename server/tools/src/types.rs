//! `portcullis types`: prints the names of a tenant as types of a programming language, so that a misspelt attribute or
//! resource does not compile.

mod identifiers;
mod java;
mod python;
mod typescript;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use portcullis_bundle::Bundle;
use portcullis_engine::types::{ACTION, CONTEXT, PropertyType, USER};
use portcullis_model::types::PropertyDeclaration;

use identifiers::{Identifiers, Shape};

/// The arguments of `portcullis types`.
#[derive(Debug, clap::Args)]
pub struct TypesArguments {
    /// The language.
    #[arg(long, value_enum)]
    pub lang: TypesLanguage,
    /// A tenant folder.
    pub folder: PathBuf,
}

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TypesLanguage {
    /// TypeScript: interfaces, and a union of resource names.
    Ts,
    /// Java 16: records in one class, and constants of resource names.
    Java,
    /// Python 3.9: typed dictionaries, and a literal type of resource names.
    Python,
}

/// Prints the names of the folder's tenant as types.
///
/// # Errors
/// The folder cannot be read, or the output cannot be written.
pub fn run(arguments: &TypesArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let bundle = Bundle::read_folder(&arguments.folder)?;
    out.write_all(text(arguments.lang, &bundle).as_bytes())?;
    Ok(())
}

fn text(language: TypesLanguage, bundle: &Bundle) -> String {
    let (reserved, write): (_, fn(&TenantNames<'_>) -> String) = match language {
        TypesLanguage::Ts => (typescript::RESERVED, typescript::text),
        TypesLanguage::Java => (java::RESERVED, java::text),
        TypesLanguage::Python => (python::RESERVED, python::text),
    };
    write(&TenantNames::new(bundle, reserved))
}

/// The names of a tenant, with the identifiers of its types.
struct TenantNames<'b> {
    tenant: &'b str,
    types: Vec<NamedType<'b>>,
    /// `<type>:<verb>`, sorted.
    resources: BTreeSet<&'b str>,
}

/// A type of the tenant.
struct NamedType<'b> {
    /// In the form `PascalCase`; each type has its own.
    identifier: String,
    name: &'b str,
    about: Option<&'b str>,
    properties: Vec<NamedProperty<'b>>,
}

/// A property of a type.
struct NamedProperty<'b> {
    name: &'b str,
    kind: PropertyType,
    about: Option<&'b str>,
}

impl<'b> TenantNames<'b> {
    /// Reads the names: `user`, `context` and `action`, declared or not, then the other types in the order of names. No type
    /// has a `reserved` identifier.
    fn new(bundle: &'b Bundle, reserved: &[&str]) -> Self {
        let declared =
            |name: &str| bundle.types.iter().flatten().find(|declared| declared.kind == name);
        let others = bundle.types.iter().flatten().map(|declared| &*declared.kind);
        let others: BTreeSet<&str> =
            others.filter(|name| ![USER, CONTEXT, ACTION].contains(name)).collect();
        let mut identifiers = Identifiers::new(reserved);
        let types = [USER, CONTEXT, ACTION].into_iter().chain(others).map(|name| {
            let properties = declared(name).into_iter().flat_map(|declared| &declared.properties);
            let property = |(name, property): (&'b String, &'b PropertyDeclaration)| {
                NamedProperty { name, kind: property.kind, about: property.about.as_deref() }
            };
            NamedType {
                identifier: identifiers.make(name, Shape::Pascal),
                name,
                about: declared(name).and_then(|declared| declared.about.as_deref()),
                properties: properties.map(property).collect(),
            }
        });
        let types = types.collect();
        let resources = bundle.resources.iter().map(|resource| &*resource.name).collect();
        Self { tenant: &bundle.tenant, types, resources }
    }
}

/// Returns a text of a folder as one line of a comment: without control characters, and those that reorder a line.
fn comment(text: &str) -> String {
    let breaks = |char: char| {
        char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.split(breaks).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns a string literal of TypeScript and Python.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
