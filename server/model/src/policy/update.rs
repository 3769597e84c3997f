//! The update of a policy.

use portcullis_engine::fields::{Fields, boolean, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;
use utoipa::{PartialSchema, ToSchema};

use super::{
    MAX_DESCRIPTION, MAX_NAME, PolicyRecord, RuleData, format_schema, priority, priority_schema,
    sent_format,
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
    /// With the format in which it was read: the one that is sent, or else the one that it looks like.
    pub rule_data: Option<(Format, RuleData)>,
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
            Some((format, RuleData::read(format, json, at, problems)?))
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

    /// Applies the update to `record`.
    ///
    /// # Errors
    /// The update names another resource than the record's, or one of `format` and `rule_data` that
    /// does not fit the other.
    pub fn apply(self, record: &mut PolicyRecord) -> Result<Changed, Invalid> {
        if self.resource.is_some_and(|resource| resource != record.resource) {
            return Err(Invalid::expected(
                "/resource",
                format!("`{}`: the resource of a policy never changes", record.resource),
            ));
        }
        let format = self.format.unwrap_or(record.format);
        match &self.rule_data {
            Some((written, _)) if *written != format => {
                let expected =
                    format!("{}, since the `format` is `{}`", shape(format), format.as_str());
                return Err(Invalid::expected("/rule_data", expected));
            }
            None if format != record.format => {
                let expected = format!(
                    "`{}`, as the stored `rule_data` is written, or {} as `rule_data`",
                    record.format.as_str(),
                    shape(format)
                );
                return Err(Invalid::expected("/format", expected));
            }
            _ => {}
        }
        let mut changed = false;
        changed |= replace(&mut record.name, self.name);
        changed |= replace(&mut record.description, self.description);
        changed |= replace(&mut record.effect, self.effect);
        changed |= replace(&mut record.format, self.format);
        changed |= replace(&mut record.rule_data, self.rule_data.map(|(_, rule_data)| rule_data));
        changed |= replace(&mut record.priority, self.priority);
        changed |= replace(&mut record.enabled, self.enabled);
        Ok(if changed { Changed::Yes } else { Changed::No })
    }
}

/// What `rule_data` looks like; the policy that is updated may turn out to be of the other format.
fn apparent_format(rule_data: &Json<'_>) -> Format {
    match (rule_data.get("matcher"), rule_data.get("type")) {
        (Some(_), None) => Format::Casbin,
        _ => Format::Json,
    }
}

/// What `rule_data` of this format is.
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

/// Whether an update changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Yes,
    No,
}

fn replace<T: PartialEq>(stored: &mut T, sent: Option<T>) -> bool {
    match sent {
        Some(sent) if sent != *stored => {
            *stored = sent;
            true
        }
        _ => false,
    }
}
