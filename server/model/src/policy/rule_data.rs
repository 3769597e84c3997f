//! Conditions of policies, as text and compiled.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Format, Json};
use serde::Serialize;
use serde_json::value::RawValue;

/// Largest `rule_data`, in bytes of compact JSON.
pub const MAX_RULE_DATA: usize = 256 * 1024;

/// A condition that compiles, as compact JSON text.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct RuleData(Box<RawValue>);

impl RuleData {
    /// The text from the store, which holds only what `CompiledRuleData::read` accepted.
    pub fn from_stored(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    pub fn text(&self) -> &str {
        self.0.get()
    }
}

/// The `rule_data` of a request body, compiled. It is compiled once, when the body is read.
#[derive(Clone, Debug)]
pub struct CompiledRuleData {
    pub format: Format,
    pub json: RuleData,
    pub condition: Condition,
}

impl CompiledRuleData {
    /// Reads and compiles a condition of this format, so that only a condition that compiles is stored.
    pub(super) fn read(
        format: Format,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let text = json.to_string();
        if text.len() > MAX_RULE_DATA {
            problems.expected(at, format!("at most {MAX_RULE_DATA} bytes of compact JSON"));
            return None;
        }
        let condition = format.condition(json, at, problems)?;
        Some(Self { format, json: RuleData::from_stored(text).ok()?, condition })
    }
}

impl PartialEq for RuleData {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
