//! The update of a policy.

use portcullis_engine::fields::{Fields, boolean, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;
use utoipa::{PartialSchema, ToSchema};

use super::{
    CompiledRuleData, MAX_DESCRIPTION, MAX_NAME, PolicyRecord, format_schema, priority,
    priority_schema, sent_format,
};
use crate::schema::condition::{ConditionTree, Matcher};
use crate::schema::{self, AnySchema};
use crate::short;

/// The body that updates a policy: what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct PolicyUpdate {
    pub name: Option<String>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    /// Must be the stored one: a policy keeps its resource.
    pub resource: Option<ResourcePattern>,
    pub effect: Option<Effect>,
    pub format: Option<Format>,
    /// Read in the format that the body names, or else in the one that the value appears to have.
    pub rule_data: Option<CompiledRuleData>,
    pub priority: Option<i32>,
    pub enabled: Option<bool>,
}

impl PolicyUpdate {
    /// Reads a request body.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let update = Self::read(json, &mut problems);
        problems.finish(update)
    }

    fn read(json: &Json<'_>, problems: &mut Problems) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        let format = fields.change("format", sent_format);
        let rule_data = fields.change("rule_data", |json, at, problems| {
            let format = format.unwrap_or_else(|| Some(apparent_format(json)))?;
            CompiledRuleData::read(format, json, at, problems)
        });
        let update = Self {
            name: fields.change("name", text(MAX_NAME)).map(str::to_owned),
            description: fields.clearable("description", short(MAX_DESCRIPTION)),
            resource: fields.change("resource", ResourcePattern::read),
            effect: fields.change("effect", Effect::read),
            format: format.flatten(),
            rule_data,
            priority: fields.change("priority", priority),
            enabled: fields.change("enabled", boolean),
        };
        fields.close();
        Some(update)
    }

    /// Returns `old` as the update changes it.
    ///
    /// # Errors
    /// The update names another resource than that of `old`, or `format` and `rule_data` do not fit each other
    /// afterwards.
    pub fn applied_to(&self, old: &PolicyRecord) -> Result<PolicyRecord, Invalid> {
        if self.resource.as_ref().is_some_and(|resource| *resource != old.resource) {
            return Err(Invalid::expected(
                "/resource",
                format!("`{}`: the resource of a policy never changes", old.resource),
            ));
        }
        let format = self.new_format(old)?;
        let mut new = PolicyRecord { format, ..old.clone() };
        if let Some(name) = &self.name {
            new.name.clone_from(name);
        }
        if let Some(description) = &self.description {
            new.description.clone_from(description);
        }
        if let Some(rule_data) = &self.rule_data {
            new.rule_data = rule_data.json.clone();
        }
        new.effect = self.effect.unwrap_or(old.effect);
        new.priority = self.priority.unwrap_or(old.priority);
        new.enabled = self.enabled.unwrap_or(old.enabled);
        Ok(new)
    }

    /// Returns the format after the update, which `rule_data` must have.
    fn new_format(&self, old: &PolicyRecord) -> Result<Format, Invalid> {
        let format = self.format.unwrap_or(old.format);
        match &self.rule_data {
            Some(sent) if sent.format != format => {
                let expected =
                    format!("{} because the `format` is `{}`", shape(format), format.as_str());
                Err(Invalid::expected("/rule_data", expected))
            }
            None if format != old.format => {
                let expected = format!(
                    "`{}`, which is the format of the stored `rule_data`, or a new `rule_data` with {}",
                    old.format.as_str(),
                    shape(format)
                );
                Err(Invalid::expected("/format", expected))
            }
            _ => Ok(format),
        }
    }
}

/// Returns the format that `rule_data` appears to have; the stored policy may have the other one.
fn apparent_format(rule_data: &Json<'_>) -> Format {
    match (rule_data.get("matcher"), rule_data.get("type")) {
        (Some(_), None) => Format::Casbin,
        _ => Format::Json,
    }
}

/// The shape of `rule_data` in this format, for messages.
fn shape(format: Format) -> &'static str {
    match format {
        Format::Json => "a condition tree",
        Format::Casbin => "`{\"matcher\": \"<expression>\"}`",
    }
}

impl ToSchema for PolicyUpdate {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<ConditionTree>(schemas);
        schema::collect::<Matcher>(schemas);
    }
}

impl PartialSchema for PolicyUpdate {
    fn schema() -> AnySchema {
        let resource = || {
            schema::resource_pattern()
                .description(Some("The record's own: the resource of a policy never changes"))
        };
        let common = || {
            schema::input()
                .change("name", schema::text(MAX_NAME))
                .clearable("description", schema::short(MAX_DESCRIPTION))
                .change("resource", resource())
                .change("effect", schema::effect())
                .change("priority", priority_schema())
                .change("enabled", schema::boolean())
        };
        let neither = common()
            .change("format", format_schema())
            .example(json!({"enabled": false, "priority": 20}));
        let tree = common()
            .change("format", schema::choice([Format::Json.as_str()]))
            .required("rule_data", schema::named::<ConditionTree>());
        let matcher = common()
            .change("format", schema::choice([Format::Casbin.as_str()]))
            .required("rule_data", schema::named::<Matcher>())
            .example(json!({"rule_data": {"matcher": "r.sub.shift == \"night\""}}));
        schema::one_of([neither.into(), tree.into(), matcher.into()])
    }
}
