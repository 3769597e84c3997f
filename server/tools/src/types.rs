//! `portcullis types`: prints the names of a tenant as types of a programming language, so that a misspelt attribute or
//! resource does not compile.

mod identifiers;
mod java;
mod names;
mod python;
mod typescript;

use std::io::Write;
use std::path::PathBuf;

use portcullis_bundle::Bundle;

use names::TenantNames;

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

#[cfg(test)]
mod tests;
