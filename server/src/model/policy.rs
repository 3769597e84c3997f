//! ABAC policies (semantics.md section 4).

use portcullis_engine::fields::{Fields, boolean, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Effect, Invalid, Json, ResourcePattern};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::schema::condition::ConditionTree;
use super::schema::{self, AnySchema};
use super::{Authorship, Timestamp, short};

/// Largest `rule_data`, in bytes of compact JSON.
pub(crate) const MAX_RULE_DATA: usize = 256 * 1024;
/// Longest name, in characters.
const MAX_NAME: usize = 256;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 4_096;

/// An ABAC policy as the store keeps it and the API shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b61",
    "tenant_id": "hospital",
    "name": "visitors-by-day",
    "description": "No visitors at night",
    "resource": "visit:register",
    "effect": "deny",
    "format": "json",
    "rule_data": {"type": "CONDITION", "attribute": "user.shift", "operator": "eq", "value": "night"},
    "priority": 10,
    "enabled": true,
    "created_by": "ines-admin",
    "created_at": "2026-05-16T09:30:00.000Z",
    "updated_by": null,
    "updated_at": null,
})))]
pub(crate) struct PolicyRecord {
    pub(crate) id: Uuid,
    pub(crate) tenant_id: String,
    pub(crate) name: String,
    #[schema(required)]
    pub(crate) description: Option<String>,
    #[serde(serialize_with = "serialize_display")]
    #[schema(schema_with = schema::resource_pattern)]
    pub(crate) resource: ResourcePattern,
    #[schema(schema_with = schema::effect)]
    pub(crate) effect: Effect,
    #[schema(inline)]
    pub(crate) format: Format,
    #[schema(value_type = ConditionTree)]
    pub(crate) rule_data: RuleData,
    pub(crate) priority: i32,
    pub(crate) enabled: bool,
    pub(crate) created_by: String,
    pub(crate) created_at: Timestamp,
    #[schema(required)]
    pub(crate) updated_by: Option<String>,
    #[schema(required)]
    pub(crate) updated_at: Option<Timestamp>,
}

fn serialize_display<S: serde::Serializer>(
    value: &impl std::fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// How `rule_data` writes the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// A condition tree.
    Json,
}

impl Format {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        (text == "json").then_some(Self::Json)
    }

    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let format = json.as_str().and_then(Self::parse);
        if format.is_none() {
            problems.expected(at, "`json`, the only format so far");
        }
        format
    }
}

/// A condition that compiles, as compact JSON text.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct RuleData(Box<RawValue>);

impl RuleData {
    /// From the store, which holds only what [`RuleData::read`] accepted.
    pub(crate) fn from_stored(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads a condition tree: it is compiled, so that only what can work is ever saved.
    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = json.to_string();
        if text.len() > MAX_RULE_DATA {
            problems.expected(at, format!("at most {MAX_RULE_DATA} bytes of compact JSON"));
            return None;
        }
        Condition::read(json, at, problems)?;
        Self::from_stored(text).ok()
    }
}

/// The body that creates a policy.
#[derive(Clone, Debug)]
pub(crate) struct NewPolicy {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) resource: ResourcePattern,
    pub(crate) effect: Effect,
    pub(crate) format: Format,
    pub(crate) rule_data: RuleData,
    pub(crate) priority: i32,
    pub(crate) enabled: bool,
}

impl NewPolicy {
    /// Reads a policy that stands at `at`.
    pub(crate) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let name = fields.required("name", text(MAX_NAME));
        let description = fields.optional("description", short(MAX_DESCRIPTION));
        let resource = fields.required("resource", ResourcePattern::read);
        let effect = fields.required("effect", Effect::read);
        let format = fields.optional("format", Format::read);
        let rule_data = fields.required("rule_data", RuleData::read);
        let priority = fields.required("priority", priority);
        let enabled = fields.optional("enabled", boolean);
        fields.close();
        Some(Self {
            name: name?.to_owned(),
            description,
            resource: resource?,
            effect: effect?,
            format: format.unwrap_or(Format::Json),
            rule_data: rule_data?,
            priority: priority?,
            enabled: enabled.unwrap_or(true),
        })
    }

    /// Reads a request body.
    pub(crate) fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let policy = Self::read(json, &Place::root(), &mut problems);
        problems.finish(policy)
    }

    /// The record that it becomes.
    pub(crate) fn into_record(self, id: Uuid, tenant_id: &str, by: &Authorship) -> PolicyRecord {
        PolicyRecord {
            id,
            tenant_id: tenant_id.to_owned(),
            name: self.name,
            description: self.description,
            resource: self.resource,
            effect: self.effect,
            format: self.format,
            rule_data: self.rule_data,
            priority: self.priority,
            enabled: self.enabled,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
        }
    }
}

impl ToSchema for NewPolicy {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<ConditionTree>(schemas);
    }
}

impl PartialSchema for NewPolicy {
    fn schema() -> AnySchema {
        let format = schema::choice(["json"]).default(Some(json!("json")));
        let enabled = schema::boolean().default(Some(json!(true)));
        schema::input()
            .required("name", schema::text(MAX_NAME))
            .optional("description", schema::short(MAX_DESCRIPTION))
            .required("resource", schema::resource_pattern())
            .required("effect", schema::effect())
            .optional("format", format)
            .required("rule_data", schema::named::<ConditionTree>())
            .required("priority", priority_schema())
            .optional("enabled", enabled)
            .example(json!({
                "name": "visitors-by-day",
                "description": "No visitors at night",
                "resource": "visit:register",
                "effect": "deny",
                "priority": 10,
                "rule_data": {"type": "CONDITION", "attribute": "user.shift", "operator": "eq",
                    "value": "night"},
            }))
            .into()
    }
}

fn priority_schema() -> ObjectBuilder {
    schema::integer(i32::MIN.into(), i32::MAX.into()).description(Some(
        "Of the policies that apply the highest decides; at equal priority deny beats allow",
    ))
}

fn priority(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<i32> {
    let priority = match json {
        Json::Number(number) => number.as_i32(),
        _ => None,
    };
    if priority.is_none() {
        problems.expected(at, "an integer from -2147483648 to 2147483647");
    }
    priority
}

/// The body that updates a policy: what is absent stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyUpdate {
    pub(crate) name: Option<String>,
    /// `Some(None)` clears it.
    pub(crate) description: Option<Option<String>>,
    /// Must be the stored one: a policy keeps its resource.
    pub(crate) resource: Option<ResourcePattern>,
    pub(crate) effect: Option<Effect>,
    pub(crate) format: Option<Format>,
    pub(crate) rule_data: Option<RuleData>,
    pub(crate) priority: Option<i32>,
    pub(crate) enabled: Option<bool>,
}

impl PolicyUpdate {
    /// Reads a request body.
    pub(crate) fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let update = Self::read(json, &mut problems);
        problems.finish(update)
    }

    fn read(json: &Json<'_>, problems: &mut Problems) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        let update = Self {
            name: fields.change("name", text(MAX_NAME)).map(str::to_owned),
            description: fields.clearable("description", short(MAX_DESCRIPTION)),
            resource: fields.change("resource", ResourcePattern::read),
            effect: fields.change("effect", Effect::read),
            format: fields.change("format", Format::read),
            rule_data: fields.change("rule_data", RuleData::read),
            priority: fields.change("priority", priority),
            enabled: fields.change("enabled", boolean),
        };
        fields.close();
        Some(update)
    }

    /// Applies the update to `record`.
    ///
    /// # Errors
    /// The update names another resource than the record's.
    pub(crate) fn apply(self, record: &mut PolicyRecord) -> Result<Changed, Invalid> {
        if self.resource.is_some_and(|resource| resource != record.resource) {
            return Err(Invalid::expected(
                "/resource",
                format!("`{}`: the resource of a policy never changes", record.resource),
            ));
        }
        let mut changed = false;
        changed |= replace(&mut record.name, self.name);
        changed |= replace(&mut record.description, self.description);
        changed |= replace(&mut record.effect, self.effect);
        changed |= replace(&mut record.format, self.format);
        changed |= replace(&mut record.rule_data, self.rule_data);
        changed |= replace(&mut record.priority, self.priority);
        changed |= replace(&mut record.enabled, self.enabled);
        Ok(if changed { Changed::Yes } else { Changed::No })
    }
}

impl ToSchema for PolicyUpdate {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<ConditionTree>(schemas);
    }
}

impl PartialSchema for PolicyUpdate {
    fn schema() -> AnySchema {
        let resource = schema::resource_pattern()
            .description(Some("The record's own: the resource of a policy never changes"));
        schema::input()
            .change("name", schema::text(MAX_NAME))
            .clearable("description", schema::short(MAX_DESCRIPTION))
            .change("resource", resource)
            .change("effect", schema::effect())
            .change("format", schema::choice(["json"]))
            .change("rule_data", schema::named::<ConditionTree>())
            .change("priority", priority_schema())
            .change("enabled", schema::boolean())
            .example(json!({"enabled": false, "priority": 20}))
            .into()
    }
}

/// Whether an update changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
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

impl PartialEq for RuleData {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
