//! Conditions as text in JSON: an object whose one member has the text.

use crate::condition::Condition;
use crate::fields::{self, string};
use crate::invalid::{Fault, Place, Problems};
use crate::json::Json;

/// Reads `{"<name>": "<text>"}` at `at` of a larger input. `parse` compiles the text.
pub(crate) fn read_member(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    name: &'static str,
    parse: impl FnOnce(&str) -> Result<Condition, Fault>,
) -> Option<Condition> {
    fields::object(json, at, problems, |fields| {
        fields.required(name, |json, at, problems| {
            let text = string(json, at, problems)?;
            parse(text).map_err(|fault| problems.push(at, fault)).ok()
        })
    })
}
