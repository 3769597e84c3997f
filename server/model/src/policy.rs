//! ABAC policies (`docs/semantics.md`, section 4.1).

mod condition;
mod update;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Effect, Format, Invalid, Json, ResourcePattern};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;
use uuid::Uuid;

use crate::fields::{boolean, effect, resource_pattern, short, text};
use crate::input::{self, Field, Members, field};
use crate::schema::{self, AnySchema};
use crate::{Authorship, Timestamp, document};
pub use condition::{ConditionTree, Matcher};
pub use update::PolicyUpdate;

/// Largest `rule_data`, in bytes of compact JSON.
pub const MAX_RULE_DATA: usize = 256 * 1024;
/// Longest name, in characters.
const MAX_NAME: usize = 256;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 4_096;

/// An ABAC policy as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
pub struct PolicyRecord {
    pub id: Uuid,
    pub tenant_id: String,
    pub name: String,
    #[schema(required)]
    pub description: Option<String>,
    #[serde(serialize_with = "serialize_display")]
    #[schema(schema_with = schema::resource_pattern)]
    pub resource: ResourcePattern,
    #[schema(schema_with = schema::effect)]
    pub effect: Effect,
    #[schema(schema_with = format_schema)]
    pub format: Format,
    #[schema(schema_with = rule_data_schema)]
    pub rule_data: RuleData,
    pub priority: i32,
    pub enabled: bool,
    pub created_by: String,
    pub created_at: Timestamp,
    #[schema(required)]
    pub updated_by: Option<String>,
    #[schema(required)]
    pub updated_at: Option<Timestamp>,
}

fn serialize_display<S: serde::Serializer>(
    value: &impl std::fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A condition that compiles, as compact JSON text.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct RuleData(Box<RawValue>);

impl RuleData {
    /// The text from the store, which holds only what [`CompiledRuleData::read`] accepted.
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
    fn read(
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

/// The body that creates a policy.
#[derive(Clone, Debug)]
pub struct NewPolicy {
    pub name: String,
    pub description: Option<String>,
    pub resource: ResourcePattern,
    pub effect: Effect,
    pub rule_data: CompiledRuleData,
    pub priority: i32,
    pub enabled: bool,
}

impl NewPolicy {
    /// Reads the policy at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, |members| Self::declare(members, None))
    }

    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, None))
    }

    /// Declares the members. The document has a form for each format; `form` is the one that is described.
    fn declare(members: &mut Members<'_, '_>, form: Option<Format>) -> Option<Self> {
        let name = members.required("name", text(MAX_NAME));
        let description = members.optional("description", short(MAX_DESCRIPTION));
        let resource = members.required("resource", resource_pattern());
        let effect = members.required("effect", effect());
        let format = match form {
            Some(Format::Casbin) => members.required("format", sent_format(form)),
            _ => members.optional("format", sent_format(form).default_is("json")),
        };
        let format = format.unwrap_or(Some(Format::Json));
        let rule_data = members.required("rule_data", rule_data(form, move |_| format));
        let priority = members.required("priority", priority());
        let enabled = members.optional("enabled", boolean().default_is(true));
        Some(Self {
            name: name?,
            description,
            resource: resource?,
            effect: effect?,
            rule_data: rule_data?,
            priority: priority?,
            enabled: enabled.unwrap_or(true),
        })
    }

    /// Returns the record of the new policy.
    pub fn into_record(self, id: Uuid, tenant_id: &str, by: &Authorship) -> PolicyRecord {
        PolicyRecord {
            id,
            tenant_id: tenant_id.to_owned(),
            name: self.name,
            description: self.description,
            resource: self.resource,
            effect: self.effect,
            format: self.rule_data.format,
            rule_data: self.rule_data.json,
            priority: self.priority,
            enabled: self.enabled,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
        }
    }
}

/// The format that a body names. A bad one is `Some(None)`: it is noted, and `rule_data` cannot be read without it.
fn sent_format<'j>(form: Option<Format>) -> impl Field<'j, Value = Option<Format>> {
    field(
        |json, at, problems| Some(Format::read(json, at, problems)),
        move || match form {
            Some(format) => schema::choice([format.as_str()]),
            None => format_schema(),
        },
    )
}

/// A condition in the format that `format` returns for it.
fn rule_data<'j>(
    form: Option<Format>,
    format: impl Fn(&Json<'_>) -> Option<Format>,
) -> impl Field<'j, Value = CompiledRuleData> {
    field(
        move |json: &Json<'_>, at, problems| {
            CompiledRuleData::read(format(json)?, json, at, problems)
        },
        move || match form {
            Some(Format::Json) => schema::named::<ConditionTree>(),
            Some(Format::Casbin) => schema::named::<Matcher>(),
            None => rule_data_schema(),
        },
    )
}

fn format_schema() -> ObjectBuilder {
    schema::choice([Format::Json.as_str(), Format::Casbin.as_str()])
}

fn rule_data_schema() -> AnySchema {
    schema::one_of([schema::named::<ConditionTree>(), schema::named::<Matcher>()])
}

document!(NewPolicy, naming ConditionTree, Matcher => {
    let form = |format| input::describe(|members| NewPolicy::declare(members, Some(format)));
    let tree = form(Format::Json).example(json!({
        "name": "visitors-by-day",
        "description": "No visitors at night",
        "resource": "visit:register",
        "effect": "deny",
        "priority": 10,
        "rule_data": {"type": "CONDITION", "attribute": "user.shift", "operator": "eq",
            "value": "night"},
    }));
    let matcher = form(Format::Casbin).example(json!({
        "name": "visitors-by-day",
        "resource": "visit:register",
        "effect": "deny",
        "priority": 10,
        "format": "casbin",
        "rule_data": {"matcher": "r.sub.shift == \"night\""},
    }));
    schema::one_of([tree.into(), matcher.into()])
});

fn priority<'j>() -> impl Field<'j, Value = i32> {
    field(read_priority, || {
        schema::integer(i32::MIN.into(), i32::MAX.into()).description(Some(
            "Of the policies that apply the highest decides; at equal priority deny beats allow",
        ))
    })
}

fn read_priority(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<i32> {
    let priority = match json {
        Json::Number(number) => number.as_i32(),
        _ => None,
    };
    if priority.is_none() {
        problems.expected(at, "an integer from -2147483648 to 2147483647");
    }
    priority
}

impl PartialEq for RuleData {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
