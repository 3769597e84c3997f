//! Judges JSON Schemas, and documents by them, with the crate `jsonschema`: no code of the readers and of the schemas is
//! in the judgement.

#![expect(clippy::expect_used, reason = "a judge of tests fails by a panic")]

mod mutations;

use jsonschema::{Draft, Validator};
use serde_json::Value;

pub use mutations::mutations;

/// A schema that judges documents, formats such as `date-time` included.
#[derive(Debug)]
pub struct JudgingSchema(Validator);

impl JudgingSchema {
    /// Compiles `schema`. Panics if it is no JSON Schema 2020-12.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        let options = jsonschema::options();
        let options = options.with_draft(Draft::Draft202012).should_validate_formats(true);
        Self(options.build(schema).expect("a JSON Schema 2020-12"))
    }

    /// Returns the faults of `document`, each with its place. A sound document has none.
    #[must_use]
    pub fn faults(&self, document: &Value) -> Vec<String> {
        let faults = self.0.iter_errors(document);
        faults.map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
    }

    /// Returns whether the schema accepts `document`.
    #[must_use]
    pub fn accepts(&self, document: &Value) -> bool {
        self.0.is_valid(document)
    }
}

/// Returns the faults of `schema` by the meta-schema of JSON Schema 2020-12.
#[must_use]
pub fn faults_of_schema(schema: &Value) -> Vec<String> {
    match jsonschema::draft202012::meta::validate(schema) {
        Ok(()) => vec![],
        Err(fault) => vec![fault.to_string()],
    }
}
