//! `portcullis schema`: prints the JSON Schemas of files, or writes them to a folder.

mod declared;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use portcullis_bundle::{Bundle, SCHEMAS};
use portcullis_model::file_schema::FileSchema;
use portcullis_model::resolver::ManifestFile;
use portcullis_model::types::NewType;

use crate::resolver_cli::CHECKS_SCHEMA;

const MANIFEST_SCHEMA: FileSchema = FileSchema::for_type::<ManifestFile>(
    "manifest",
    "manifest.json",
    "The manifest of a resolver: the namespace that it answers, and what its module may read and reach",
);

/// The arguments of `portcullis schema`.
#[derive(Debug, clap::Args)]
pub struct SchemaArguments {
    /// The kind of file. Without it `--out` writes all; without both the kinds are listed.
    #[arg(value_parser = kinds())]
    kind: Option<String>,
    /// Write to this folder, as `<kind>.schema.json`, in place of what is there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A tenant folder: the schemas have the names that its types.yaml declares, for completion.
    #[arg(long, value_name = "FOLDER")]
    types: Option<PathBuf>,
}

/// Lists the kinds of files, or prints or writes schemas.
///
/// # Errors
/// The folder of the types cannot be read, or a file cannot be written.
pub fn run(arguments: &SchemaArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let kind = arguments.kind.as_deref();
    let schemas: Vec<FileSchema> =
        all().filter(|schema| kind.is_none_or(|kind| schema.kind == kind)).collect();
    let folder = arguments.types.as_deref().map(Bundle::read_folder).transpose()?;
    let types = folder.and_then(|folder| folder.types).unwrap_or_default();
    match (&arguments.out, &arguments.kind) {
        (Some(folder), _) => {
            write(folder, &schemas, &types)?;
            told(folder, &schemas, out)
        }
        (None, Some(_)) => print(&schemas, &types, out),
        (None, None) => list(&schemas, out),
    }
}

/// Returns the schema of every kind of file.
pub fn all() -> impl Iterator<Item = FileSchema> {
    SCHEMAS.into_iter().chain([MANIFEST_SCHEMA, CHECKS_SCHEMA])
}

/// Writes schemas to a folder, which is created if it is missing, with the names that the types declare.
pub(crate) fn write(
    folder: &Path,
    schemas: &[FileSchema],
    types: &[NewType],
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for schema in schemas {
        let file = folder.join(schema.file_name());
        fs::write(&file, text(schema, types)).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn kinds() -> PossibleValuesParser {
    all().map(|schema| schema.kind).collect::<Vec<_>>().into()
}

fn print(schemas: &[FileSchema], types: &[NewType], out: &mut dyn Write) -> anyhow::Result<()> {
    for schema in schemas {
        out.write_all(text(schema, types).as_bytes())?;
    }
    Ok(())
}

/// Returns the text of a schema, with the names that the types declare.
fn text(schema: &FileSchema, types: &[NewType]) -> String {
    // Without names to add, the text is the same as the published one.
    if types.is_empty() {
        return schema.to_text();
    }
    let mut json = schema.to_json();
    declared::add_names(&mut json, types);
    format!("{json:#}\n")
}

fn list(schemas: &[FileSchema], out: &mut dyn Write) -> anyhow::Result<()> {
    for schema in schemas {
        writeln!(out, "{:<11}{}", schema.kind, schema.file)?;
    }
    writeln!(
        out,
        "\n`portcullis schema KIND` prints a schema, `portcullis schema --out DIR` writes all"
    )?;
    Ok(())
}

fn told(folder: &Path, schemas: &[FileSchema], out: &mut dyn Write) -> anyhow::Result<()> {
    for schema in schemas {
        writeln!(out, "wrote {}", folder.join(schema.file_name()).display())?;
    }
    if let Some(schema) = schemas.iter().find(|schema| schema.file.ends_with(".yaml")) {
        writeln!(
            out,
            "\nFor completion and checks in an editor, name the schema in the first line of a file:\n\n    {}",
            schema.first_line(&folder.display().to_string())
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
