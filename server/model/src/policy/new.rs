//! The creation of a policy.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;
use uuid::Uuid;

use super::condition::{ConditionTree, Matcher};
use super::fields::{MAX_DESCRIPTION, MAX_NAME, priority, rule_data, sent_format};
use super::record::PolicyRecord;
use super::rule_data::CompiledRuleData;
use crate::fields::{boolean, effect, resource_pattern, short, text};
use crate::input::{self, Field, Members};
use crate::{Authorship, document, schema};

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
