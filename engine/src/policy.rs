//! ABAC policies as data (`docs/semantics.md`, sections 2.5 and 4.1).

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::casbin;
use crate::condition::{Condition, NamedConditions};
use crate::expression;
use crate::fields::{self, string};
use crate::invalid::{Fault, Invalid, Place, Problems};
use crate::json::Json;
use crate::pattern::PatternCheck;
use crate::rbac::Effect;
use crate::resource::ResourcePattern;

/// An enabled ABAC policy, as a plan is compiled from it.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The id, which identifies the policy in a decision.
    pub id: Uuid,
    /// The name, which reasons use.
    pub name: String,
    /// The resources to which the policy applies.
    pub resource: ResourcePattern,
    /// The effect if the policy applies.
    pub effect: Effect,
    /// The priority: the highest decides.
    pub priority: i32,
    /// The condition under which the policy applies. A stored condition that does not compile is kept as its error and
    /// is undetermined: such a deny still denies, such an allow does not allow, and no other resource is affected
    /// (`docs/semantics.md`, section 4.4).
    pub condition: Result<Condition, Invalid>,
}

/// An ABAC policy inside a plan, as far as a decision reports it. A rule whose subject is a relation is one too: its
/// condition is that domain and action are the rule's, and that the relation holds.
#[derive(Clone, Debug)]
pub struct PlannedPolicy {
    /// The policy's id.
    pub id: Uuid,
    /// The policy's name, or the tuple of a rule.
    pub name: Box<str>,
    /// The effect if the policy applies.
    pub effect: Effect,
    /// The priority: the highest decides. That of a rule does not matter.
    pub priority: i32,
    /// Whether this is a rule.
    pub is_rule: bool,
}

/// The place of a policy in the order in which policies decide: rules that deny, then policies, then rules that allow. Among
/// policies the highest priority comes first. Then denies come first, then the smallest id.
pub(crate) type Order = (Kind, Reverse<i32>, Effect, Uuid);

/// Whether a rule or a policy decides, in the order in which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    DenyingRule,
    Policy,
    AllowingRule,
}

impl PlannedPolicy {
    /// Returns whether this is a rule that denies. A policy that denies too is named before it.
    #[inline]
    pub(crate) fn is_denying_rule(&self) -> bool {
        self.is_rule && self.effect == Effect::Deny
    }

    /// Returns the place of the policy in the order in which policies decide.
    pub(crate) fn order(&self) -> Order {
        let kind = match (self.is_rule, self.effect) {
            (false, _) => Kind::Policy,
            (true, Effect::Deny) => Kind::DenyingRule,
            (true, Effect::Allow) => Kind::AllowingRule,
        };
        (kind, Reverse(self.priority), self.effect, self.id)
    }
}

/// Returns whether a policy applies if its condition has this truth. An undetermined deny applies, an undetermined
/// allow does not (`docs/semantics.md`, section 2.5).
pub(crate) fn applies(effect: Effect, truth: Option<bool>) -> bool {
    truth.unwrap_or(effect == Effect::Deny)
}

/// The format of the condition in `rule_data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Format {
    /// A condition tree.
    Json,
    /// A Casbin matcher: `{"matcher": "<expression>"}`.
    Casbin,
    /// An expression: `{"expression": "<expression>"}`.
    Expression,
}

impl Format {
    /// Reads a condition of this format, and compiles its patterns to see that they work.
    pub fn condition(
        self,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Condition> {
        self.read_condition(json, at, problems, &mut PatternCheck::compile())
    }

    fn read_condition(
        self,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        patterns: &mut PatternCheck,
    ) -> Option<Condition> {
        match self {
            Self::Json => Condition::read(json, at, problems, patterns),
            Self::Casbin => {
                read_member(json, at, problems, "matcher", |text| casbin::compile(text, patterns))
            }
            Self::Expression => read_member(json, at, problems, "expression", |text| {
                expression::compile(text, patterns)
            }),
        }
    }
}

impl Policy {
    /// Returns the policy with what the names in its condition stand for. A fault of a name is one of the condition.
    #[must_use]
    pub fn resolved(self, names: &NamedConditions) -> Self {
        let condition = self.condition.and_then(|condition| {
            names.resolve(condition).map_err(|fault| Invalid::expected("", fault.to_string()))
        });
        Self { condition, ..self }
    }

    /// Reads the condition of a stored `rule_data` text. Its patterns are compiled when a plan needs them.
    ///
    /// # Errors
    /// Every fault, by JSON pointer into the text.
    pub fn stored_condition(format: Format, rule_data: &str) -> Result<Condition, Invalid> {
        let mut patterns = PatternCheck::Leave;
        if format == Format::Json
            && let Some(condition) = Condition::read_plain(rule_data, &mut patterns)
        {
            return Ok(condition);
        }
        // Anything else is read again as a tree, which knows the place of each fault.
        let json = serde_json::from_str::<Json<'_>>(rule_data)
            .map_err(|_| Invalid::expected("", "JSON"))?;
        let mut problems = Problems::default();
        let condition = format.read_condition(&json, &Place::root(), &mut problems, &mut patterns);
        problems.finish(condition)
    }
}

/// Reads `{"<name>": "<text>"}` at `at` of a larger input. `parse` compiles the text.
fn read_member(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    name: &'static str,
    parse: impl FnOnce(&str) -> Result<Condition, Fault>,
) -> Option<Condition> {
    fields::object(json, at, problems, |fields| {
        fields.required(name, |json, at, problems| {
            let text = string(json, at, problems)?;
            parse(text).map_err(|fault| problems.push(at, fault)).ok()
        })
    })
}
