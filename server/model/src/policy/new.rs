//! The creation of a policy.

use std::borrow::Cow;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;
use uuid::Uuid;

use super::condition::{ConditionExpression, ConditionTree, Matcher};
use super::fields::{
    IN_PLACE_OF_WHEN, MAX_DESCRIPTION, MAX_NAME, priority, rule_data, sent_format, when,
};
use super::record::PolicyRecord;
use super::rule_data::CompiledRuleData;
use crate::fields::{boolean, effect, resource_pattern, short, text};
use crate::input::{self, Field, Members};
use crate::schema::{self, Input};
use crate::{Authorship, document};

/// The description of the name.
const NAME: &str = "The name in decisions, explanations and test cases";
/// A name in a file: any but `default-deny`.
const FILE_NAME: &str = r"^(?!default-deny$)[^\x00]*$";

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

    /// Reads the policy of a file at `at`: in place of `rule_data` it may have an expression as `when`.
    pub fn read_of_file(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let has = |member| json.get(member).is_some();
        // Anything but an object goes on to the ordinary reading, which gives the fault.
        if json.as_object().is_some() && !has("when") && !has("rule_data") {
            problems.expected(at, "a condition: field `when` or `rule_data` is missing");
            // The other members are still read, so that their faults are noted beside this one.
            return input::read(json, at, problems, Self::without_condition);
        }
        if !has("when") {
            return Self::read(json, at, problems);
        }
        if has("rule_data") || has("format") {
            problems.expected(at, "either `when`, or `rule_data` with its `format`");
            return None;
        }
        input::read(json, at, problems, Self::declare_with_expression)
    }

    /// Returns the policy with what the names in its condition stand for. A name with a fault stays.
    pub fn resolved(&self, names: &NamedConditions) -> Cow<'_, Self> {
        match self.rule_data.resolved(names) {
            Cow::Owned(rule_data) => Cow::Owned(Self { rule_data, ..self.clone() }),
            Cow::Borrowed(_) => Cow::Borrowed(self),
        }
    }

    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, |members| {
            let new = Self::declare(members, None);
            members.misplaced("when", IN_PLACE_OF_WHEN);
            new
        })
    }

    fn declare_with_expression(members: &mut Members<'_, '_>) -> Option<Self> {
        Self::with_condition(members, |members| members.required("when", when()))
    }

    /// Declares the members. The document has a form for each format; `form` is the one that is described.
    fn declare(members: &mut Members<'_, '_>, form: Option<Format>) -> Option<Self> {
        Self::with_condition(members, |members| {
            let format = match form {
                Some(Format::Casbin | Format::Expression) => {
                    members.required("format", sent_format(form))
                }
                _ => members.optional("format", sent_format(form).default_is("json")),
            };
            // `None` inside is a format with a fault, in which no condition is read.
            let format = format.unwrap_or(Some(Format::Json));
            members.required("rule_data", rule_data(form, move |_| format))
        })
    }

    /// Declares the members of a file's policy that has no condition, so that its other faults are named too.
    fn without_condition(members: &mut Members<'_, '_>) -> Option<Self> {
        Self::with_condition(members, |members| {
            members.optional("format", sent_format(None));
            let as_text = members.optional("when", when());
            as_text.or(members.optional("rule_data", rule_data(None, |_| None)))
        })
    }

    /// Declares the members; `condition` declares the members of the condition.
    fn with_condition(
        members: &mut Members<'_, '_>,
        condition: impl FnOnce(&mut Members<'_, '_>) -> Option<CompiledRuleData>,
    ) -> Option<Self> {
        let name = text(MAX_NAME).about(NAME);
        let description = short(MAX_DESCRIPTION).about("A sentence for people: why it exists");
        let effect = effect().about("The decision where the condition is true");
        let enabled = boolean().default_is(true).about("`false` is as if it did not exist");
        let name = members.required("name", name);
        let description = members.optional("description", description);
        let resource = members.required("resource", resource_pattern());
        let effect = members.required("effect", effect);
        // The order of the calls is the order of the members in the document.
        let rule_data = condition(members);
        let priority = members.required("priority", priority());
        let enabled = members.optional("enabled", enabled);
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
            managed_by: None,
        }
    }
}

document!(NewPolicy, naming ConditionTree, Matcher, ConditionExpression => {
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
    let expression = form(Format::Expression).example(json!({
        "name": "visitors-by-day",
        "resource": "visit:register",
        "effect": "deny",
        "priority": 10,
        "format": "expression",
        "rule_data": {"expression": "user.shift == \"night\""},
    }));
    schema::one_of([tree.into(), matcher.into(), expression.into()])
});

/// Describes the form of a policy whose condition has this format.
fn form(format: Format) -> Input {
    input::describe(|members| NewPolicy::declare(members, Some(format)))
}

/// A policy in a file: in place of `rule_data` it may have an expression as `when`.
pub struct FilePolicy;

document!(FilePolicy as "Policy", naming ConditionTree, Matcher, ConditionExpression => {
    let forms = [
        input::describe(NewPolicy::declare_with_expression).titled("Policy with an expression"),
        form(Format::Json).titled("Policy with a condition tree"),
        form(Format::Casbin).titled("Policy with a Casbin matcher"),
        form(Format::Expression).titled("Policy with an expression as rule_data"),
    ];
    let forms = forms.map(|form| {
        // Cases name a policy by its name, and `default-deny` is not the name of a policy.
        let name = schema::text(MAX_NAME).pattern(Some(FILE_NAME)).description(Some(NAME));
        form.member("name", name).into()
    });
    schema::one_of(forms)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_how_to_send_an_expression() {
        for (condition, expected) in [
            (
                r#""rule_data": {"expression": "exists(user.a)"}"#,
                r#"at `/rule_data`: expected a condition tree, because the `format` is `json`; for `{"expression": "<expression>"}` add `"format": "expression"`"#,
            ),
            (
                r#""format": "expression", "rule_data": "exists(user.a)""#,
                r#"at `/rule_data`: expected `{"expression": "<expression>"}`, not a string"#,
            ),
            (
                r#""when": "exists(user.a)""#,
                r#"field `rule_data` is missing; field `when` is unknown; did you mean `"format": "expression", "rule_data": {"expression": "<expression>"}`?"#,
            ),
        ] {
            let body = format!(
                r#"{{"name": "p", "resource": "*", "effect": "deny", "priority": 1, {condition}}}"#
            );
            let json = portcullis_engine::json::parse(body.as_bytes()).expect("JSON");
            let fault = NewPolicy::parse(&json).expect_err(condition);
            assert_eq!(fault.to_string(), expected);
        }
    }
}
