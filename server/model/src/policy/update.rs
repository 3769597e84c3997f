//! The update of a policy.

use portcullis_engine::{Effect, Format, Invalid, Json, ResourcePattern};
use serde_json::json;

use super::{
    ConditionTree, MAX_DESCRIPTION, MAX_NAME, Matcher, PolicyRecord, RuleData, priority, rule_data,
    sent_format,
};
use crate::fields::{boolean, effect, resource_pattern, short, text};
use crate::input::{self, Field, Members};
use crate::{document, schema};

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
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, Form::Any))
    }

    fn declare(members: &mut Members<'_, '_>, form: Form) -> Option<Self> {
        let described = match form {
            Form::Any | Form::WithoutRuleData => None,
            Form::Of(format) => Some(format),
        };
        let format = members.change("format", sent_format(described));
        let sent_or_apparent =
            move |json: &Json<'_>| format.unwrap_or_else(|| Some(apparent_format(json)));
        let rule_data = rule_data(described, sent_or_apparent);
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

/// A form of the body. The document has one without `rule_data` and one for each format.
#[derive(Clone, Copy)]
enum Form {
    /// Every form, while a body is read.
    Any,
    WithoutRuleData,
    Of(Format),
}

document!(PolicyUpdate, naming ConditionTree, Matcher => {
    let form = |form| input::describe(|members| PolicyUpdate::declare(members, form));
    let neither = form(Form::WithoutRuleData).example(json!({"enabled": false, "priority": 20}));
    let matcher = form(Form::Of(Format::Casbin))
        .example(json!({"rule_data": {"matcher": "r.sub.shift == \"night\""}}));
    schema::one_of([neither.into(), form(Form::Of(Format::Json)).into(), matcher.into()])
});

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
