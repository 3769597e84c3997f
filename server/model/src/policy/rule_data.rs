//! Conditions of policies, as text and compiled.

use std::borrow::Cow;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::fields::string;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Format, Invalid, Json, Policy, analysis, expression};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::warning::Warning;

/// Largest `rule_data`, in bytes of compact JSON.
pub const MAX_RULE_DATA: usize = 256 * 1024;

/// A condition that compiles, as compact JSON text.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// The warnings about the condition. Their places are in the policy.
    pub warnings: Vec<Warning>,
    /// The place of a condition that is a text in the policy. A text has no places inside.
    text_at: Option<&'static str>,
}

impl CompiledRuleData {
    /// Most warnings of one code about tests of one condition.
    pub const MAX_WARNINGS: usize = 10;

    /// Returns the place in the policy of the test that is at `place`, a JSON pointer, in the tree.
    pub fn place_of(&self, place: String) -> Cow<'static, str> {
        match self.text_at {
            Some(text) => text.into(),
            None => format!("/rule_data{place}").into(),
        }
    }

    /// Reads and compiles a condition of this format, so that only a condition that compiles is stored.
    pub(crate) fn read(
        format: Format,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        if let Some(expected) = misfit(format, json) {
            problems.expected(at, expected);
            return None;
        }
        // The size is checked first, because it bounds the work of everything that follows.
        let text = short_enough(json, at, problems)?;
        let condition = format.condition(json, at, problems)?;
        condition.check_roles(format, at, problems);
        let json = RuleData::from_stored(text).ok()?;
        Some(Self::with_warnings(format, json, condition, text_at(format)))
    }

    /// Compiles a stored condition.
    ///
    /// # Errors
    /// It does not compile any more.
    pub fn stored(format: Format, json: &RuleData) -> Result<Self, Invalid> {
        let condition = Policy::stored_condition(format, json.text())?;
        Ok(Self::with_warnings(format, json.clone(), condition, text_at(format)))
    }

    /// Reads and compiles an expression without the object around it.
    pub(crate) fn read_expression(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let expression = string(json, at, problems)?;
        // The store keeps the form that the API has, whose size counts.
        let object = Json::Object(vec![("expression".into(), Json::String(expression.into()))]);
        let text = short_enough(&object, at, problems)?;
        let condition =
            expression::parse(expression).map_err(|fault| problems.push(at, fault)).ok()?;
        condition.check_roles_of_text(at, problems);
        let json = RuleData::from_stored(text).ok()?;
        Some(Self::with_warnings(Format::Expression, json, condition, Some("/when")))
    }

    /// Returns the condition with what its names stand for, and the warnings about that. A name with a fault stays.
    pub fn resolved(&self, names: &NamedConditions) -> Cow<'_, Self> {
        if !self.condition.has_names() {
            return Cow::Borrowed(self);
        }
        match names.resolve(self.condition.clone()) {
            Ok(condition) => {
                let json = self.json.clone();
                Cow::Owned(Self::with_warnings(self.format, json, condition, self.text_at))
            }
            // A name without a condition is a fault of its own, which other code reports.
            Err(_) => Cow::Borrowed(self),
        }
    }

    /// Makes a condition with the warnings about tests that are undetermined in every check.
    fn with_warnings(
        format: Format,
        json: RuleData,
        condition: Condition,
        text_at: Option<&'static str>,
    ) -> Self {
        let mut read = Self { format, json, condition, warnings: Vec::new(), text_at };
        let tests = analysis::never_decided(&read.condition, &Place::root(), Self::MAX_WARNINGS)
            .into_iter();
        let warnings =
            tests.map(|(place, test)| Warning::never_decided(read.place_of(place), test));
        read.warnings = warnings.collect();
        read
    }
}

/// Returns the place in the policy of a condition that is a text.
fn text_at(format: Format) -> Option<&'static str> {
    match format {
        Format::Json => None,
        Format::Casbin => Some("/rule_data/matcher"),
        Format::Expression => Some("/rule_data/expression"),
    }
}

/// Completes "expected …" for a `rule_data` that is text, or that has the form of another format than the default.
fn misfit(format: Format, rule_data: &Json<'_>) -> Option<String> {
    if let (Format::Casbin | Format::Expression, Json::String(_)) = (format, rule_data) {
        return Some(format!("{}, not a string", shape(format)));
    }
    let apparent = apparent_format(rule_data);
    // The readers of the other two formats name the missing member themselves.
    let is_misfit = format == Format::Json && apparent != Format::Json;
    is_misfit.then(|| {
        let (form, name) = (shape(apparent), apparent.into_str());
        format!("a condition tree, because the `format` is `json`; for {form} add `\"format\": \"{name}\"`")
    })
}

/// Returns the format that `rule_data` appears to have; the stored policy may have another one.
pub(super) fn apparent_format(rule_data: &Json<'_>) -> Format {
    let has = |member| rule_data.get(member).is_some();
    match (has("type"), has("matcher"), has("expression")) {
        // Only a tree has `type`, whatever else is in the object.
        (false, true, _) => Format::Casbin,
        (false, false, true) => Format::Expression,
        _ => Format::Json,
    }
}

/// The shape of `rule_data` in this format, for messages.
pub(super) fn shape(format: Format) -> &'static str {
    match format {
        Format::Json => "a condition tree",
        Format::Casbin => "`{\"matcher\": \"<expression>\"}`",
        Format::Expression => "`{\"expression\": \"<expression>\"}`",
    }
}

/// Returns the compact JSON of `rule_data`, if it is not too long.
fn short_enough(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = json.to_string();
    let fits = text.len() <= MAX_RULE_DATA;
    if !fits {
        problems.expected(at, format!("at most {MAX_RULE_DATA} bytes of compact JSON"));
    }
    fits.then_some(text)
}

impl PartialEq for RuleData {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
