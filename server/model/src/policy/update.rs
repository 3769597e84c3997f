//! The update of a policy.

use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;

use super::condition::{ConditionExpression, ConditionTree, Matcher};
use super::fields::{
    IN_PLACE_OF_WHEN, MAX_DESCRIPTION, MAX_NAME, priority, rule_data, sent_format,
};
use super::record::PolicyRecord;
use super::rule_data::{CompiledRuleData, apparent_format, shape};
use crate::document;
use crate::fields::{boolean, effect, resource_pattern, short, text};
use crate::input::{self, Field, Members};
use crate::schema::{self, Input};

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
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, |members| {
            let update = Self::declare(members, Form::Any);
            members.misplaced("when", IN_PLACE_OF_WHEN);
            update
        })
    }

    fn declare(members: &mut Members<'_, '_>, form: Form) -> Option<Self> {
        let described = match form {
            Form::Any | Form::WithoutRuleData => None,
            Form::Of(format) => Some(format),
        };
        let format = members.change("format", sent_format(described));
        let rule_data =
            // An inner `None` is a format with a fault, in which nothing is read.
            rule_data(described, move |json| format.unwrap_or_else(|| Some(apparent_format(json))));
        let rule_data = match form {
            Form::Any => members.change("rule_data", rule_data),
            Form::WithoutRuleData => None,
            Form::Of(_) => members.given("rule_data", rule_data),
        };
        let resource =
            resource_pattern().about("The record's own: the resource of a policy never changes");
        Some(Self {
            name: members.change("name", text(MAX_NAME)),
            description: members.clearable("description", short(MAX_DESCRIPTION)),
            resource: members.change("resource", resource),
            effect: members.change("effect", effect()),
            format: format.flatten(),
            rule_data,
            priority: members.change("priority", priority()),
            enabled: members.change("enabled", boolean()),
        })
    }

    /// Returns `old` as the update changes it.
    ///
    /// # Errors
    /// The update names another resource than `old`'s, or `format` and `rule_data` do not fit each other
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
                    format!("{} because the `format` is `{}`", shape(format), format.into_str());
                Err(Invalid::expected("/rule_data", expected))
            }
            // The stored condition is never translated, so another format needs another condition.
            None if format != old.format => {
                let expected = format!(
                    "`{}`, which is the format of the stored `rule_data`, or a new `rule_data` with {}",
                    old.format.into_str(),
                    shape(format)
                );
                Err(Invalid::expected("/format", expected))
            }
            _ => Ok(format),
        }
    }
}

/// A form of the body. The document has one without `rule_data` and one for each format.
#[derive(Clone, Copy)]
enum Form {
    /// Every form, while a body is read.
    Any,
    WithoutRuleData,
    Of(Format),
}

impl Form {
    fn describe(self) -> Input {
        input::describe(|members| PolicyUpdate::declare(members, self))
    }
}

document!(PolicyUpdate, naming ConditionTree, Matcher, ConditionExpression => {
    let neither = Form::WithoutRuleData.describe();
    let neither = neither.example(json!({"enabled": false, "priority": 20}));
    let matcher = Form::Of(Format::Casbin)
        .describe()
        .example(json!({"rule_data": {"matcher": "r.sub.shift == \"night\""}}));
    let expression = Form::Of(Format::Expression)
        .describe()
        .example(json!({"rule_data": {"expression": "user.shift == \"night\""}}));
    let tree = Form::Of(Format::Json).describe();
    schema::one_of([neither.into(), tree.into(), matcher.into(), expression.into()])
});
