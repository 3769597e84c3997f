//! Validation files: a schema with its relationships and assertions.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::unfilled::Unfilled;
use super::{relationships, schema};
use crate::relations::model::Model;
use crate::relations::place::Place;
use crate::relations::source::{first_line, named, opened};
use crate::relations::tuples::StoredTuple;
use crate::relations::yaml;

/// The content of the files.
#[derive(Debug)]
pub(super) struct Validation {
    pub(super) model: Model,
    pub(super) tuples: Vec<(Place, StoredTuple)>,
    pub(super) expected: Expected,
}

/// The expected answers.
#[derive(Debug)]
pub(super) struct Expected {
    /// The permissions that nobody can have.
    pub(super) unfilled: Unfilled,
    /// The beginning of the file.
    pub(super) start: Place,
    pub(super) assertions: Assertions,
    pub(super) subjects: Subjects,
}

/// The subjects of each `<type>:<id>#<relation>`.
pub(super) type Subjects = BTreeMap<String, Spanned<Option<Vec<Spanned<String>>>>>;

/// Relationships with the expected answers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Assertions {
    pub(super) assert_true: Option<Vec<Spanned<String>>>,
    pub(super) assert_false: Option<Vec<Spanned<String>>>,
    pub(super) assert_caveated: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ValidationFile {
    schema: Option<Spanned<String>>,
    #[serde(rename = "schemaFile")]
    schema_file: Option<Spanned<String>>,
    relationships: Option<Spanned<String>>,
    assertions: Option<Assertions>,
    validation: Option<Subjects>,
}

impl Validation {
    /// Reads a validation file, and the schema that it names.
    ///
    /// # Errors
    /// A file that cannot be read, or its first fault.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let (text, start) = opened(path)?;
        let file: ValidationFile = yaml::parse(&text, &start).map_err(anyhow::Error::msg)?;
        let (model, unfilled) = match (file.schema, file.schema_file) {
            (Some(schema), None) => {
                schema::parse(&schema.value, &first_line(&schema, &text, &start))
                    .map_err(anyhow::Error::msg)?
            }
            // The name of the file is relative to the folder of this one.
            (None, Some(name)) => named(&name, &start, read_schema)?,
            _ => anyhow::bail!(start.says("expected `schema` or `schemaFile`")),
        };
        let tuples = match &file.relationships {
            // The relationships are a block of text, so the place of a fault needs the line at which it begins.
            Some(one) => relationships::read(&one.value, &first_line(one, &text, &start))
                .map_err(anyhow::Error::msg)?,
            None => Vec::new(),
        };
        let assertions = file.assertions.unwrap_or_default();
        let subjects = file.validation.unwrap_or_default();
        let expected = Expected { unfilled, start, assertions, subjects };
        Ok(Self { model, tuples, expected })
    }

    /// Reads a schema and relationships from files without assertions.
    ///
    /// # Errors
    /// A file that cannot be read, or its first fault.
    pub(super) fn without_assertions(
        schema: &Path,
        relationships: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let (model, unfilled) = read_schema(schema)?;
        let tuples = match relationships {
            Some(path) => {
                let (text, start) = opened(path)?;
                relationships::read(&text, &start).map_err(anyhow::Error::msg)?
            }
            None => Vec::new(),
        };
        let start = Place::start(schema);
        let (assertions, subjects) = (Assertions::default(), Subjects::new());
        let expected = Expected { unfilled, start, assertions, subjects };
        Ok(Self { model, tuples, expected })
    }
}

fn read_schema(path: &Path) -> anyhow::Result<(Model, Unfilled)> {
    let (text, start) = opened(path)?;
    schema::parse(&text, &start).map_err(anyhow::Error::msg)
}
