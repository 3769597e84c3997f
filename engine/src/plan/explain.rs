//! Why a check is decided as it is: every candidate, by the same program and table that decide.

use std::borrow::Cow;

use serde::Serialize;
use uuid::Uuid;

use super::index::Indexed;
use super::program::{Child, NodeId, Operation, Run, as_written};
use super::slots::{Slot, Values};
use super::{Plan, why_unresolved};
use crate::answers::Answers;
use crate::condition::{AttributePath, Operand, Predicate, Test};
use crate::decision::Undetermined;
use crate::json::Json;
use crate::policy::PlannedPolicy;
use crate::rbac::{Effect, MatchedRule};
use crate::request::Check;
use crate::value::Value;

/// Everything that was looked at for one check (`docs/semantics.md`, section 2.8).
#[derive(Debug, Serialize)]
pub struct Explanation<'e> {
    /// Every enabled policy about the resource, in the order in which they decide: the first that applies does,
    /// unless a rule denies.
    pub policies: Vec<ExplainedPolicy<'e>>,
    /// Every RBAC rule that matches.
    pub rules: Vec<ExplainedRule<'e>>,
    /// Every attribute that a condition reads.
    pub attributes: Vec<ExplainedAttribute<'e>>,
}

/// A policy and what it says of the check.
#[derive(Debug, Serialize)]
pub struct ExplainedPolicy<'e> {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: &'e str,
    /// What it does when it applies.
    pub effect: Effect,
    /// The highest decides.
    pub priority: i32,
    /// Whether it applies: its condition is true, or undetermined and the policy denies.
    pub applies: bool,
    /// Whether it is what decided.
    pub decides: bool,
    /// What its condition gives.
    pub outcome: Outcome,
    /// Its condition; `None` when the stored one cannot be read.
    pub condition: Option<ExplainedNode<'e>>,
}

/// What a condition, or a part of one, gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    True,
    False,
    Undetermined,
}

impl From<Option<bool>> for Outcome {
    fn from(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::True,
            Some(false) => Self::False,
            None => Self::Undetermined,
        }
    }
}

/// A node of a condition tree, as it was written, and what it gives.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the fields are those of the tree")]
pub enum ExplainedNode<'e> {
    And { outcome: Outcome, children: Vec<ExplainedNode<'e>> },
    Or { outcome: Outcome, children: Vec<ExplainedNode<'e>> },
    Not { outcome: Outcome, child: Box<ExplainedNode<'e>> },
    Condition(ExplainedTest<'e>),
}

/// A `CONDITION` node and what it gives.
#[derive(Debug, Serialize)]
pub struct ExplainedTest<'e> {
    /// What it gives.
    pub outcome: Outcome,
    /// Why it is undetermined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The attribute's path.
    pub attribute: String,
    /// The operator's name.
    pub operator: &'static str,
    /// What the attribute is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json<'e>>,
    /// What an absent attribute gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_missing: Option<bool>,
    /// What the attribute is; `None` when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Json<'e>>,
}

/// An RBAC rule that matches.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are those of the rule")]
pub struct ExplainedRule<'e> {
    pub id: Uuid,
    pub sub: &'e str,
    pub dom: &'e str,
    pub obj: String,
    pub act: &'e str,
    pub effect: Effect,
    /// Whether it is what decided.
    pub decides: bool,
}

/// An attribute that a condition reads.
#[derive(Debug, Serialize)]
pub struct ExplainedAttribute<'e> {
    /// Its path.
    pub attribute: String,
    /// Where its value comes from: `request`, `token` or `resolver:<namespace>`.
    pub source: Cow<'static, str>,
    /// Its value; `None` when it is absent, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json<'e>>,
    /// Why a resolver gave no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// An attribute of the request, which is a scalar or a list of scalars.
fn shown(value: Value<'_>) -> Json<'_> {
    match value {
        Value::Text(text) => Json::String(text.into()),
        Value::Number(number) => Json::Number(number),
        Value::Bool(value) => Json::Bool(value),
        Value::List(list) => {
            let mut items = Vec::new();
            list.for_each(|item| items.push(shown(item)));
            Json::Array(items)
        }
        Value::Instant(_) | Value::Opaque | Value::Failed | Value::Unasked => Json::Null,
    }
}

impl Plan {
    /// Why `check` is decided as it is by `decides`, the id of a policy or rule, with these `answers`.
    pub fn explain<'e>(
        &'e self,
        check: &'e Check<'e>,
        answers: &'e Answers,
        decides: Option<Uuid>,
    ) -> Explanation<'e> {
        let now = self.slots.time_text(check.now);
        let mut values = Values::new();
        self.slots.read(check, answers, &now, &mut values);
        let run = Run::new(&self.program, &values);
        let mut explainer = Explainer { plan: self, check, answers, run, decides };
        Explanation {
            policies: explainer.policies(),
            rules: explainer.rules(),
            attributes: explainer.attributes(),
        }
    }
}

struct Explainer<'e, 'r> {
    plan: &'e Plan,
    check: &'e Check<'e>,
    answers: &'e Answers,
    run: Run<'r>,
    decides: Option<Uuid>,
}

impl<'e> Explainer<'e, '_> {
    fn policies(&mut self) -> Vec<ExplainedPolicy<'e>> {
        let plan = self.plan;
        let policies = plan.policies.iter().zip(&plan.conditions);
        policies.map(|(policy, indexed)| self.policy(policy, *indexed)).collect()
    }

    /// An attribute that was not asked for turns nothing, so that its policy counts only if it applies in any case.
    fn policy(&mut self, policy: &'e PlannedPolicy, indexed: Indexed) -> ExplainedPolicy<'e> {
        let truth = indexed.condition.and_then(|condition| self.run.truth(condition));
        ExplainedPolicy {
            id: policy.id,
            name: &policy.name,
            effect: policy.effect,
            priority: policy.priority,
            applies: self.run.applies(indexed) == Some(true),
            decides: self.decides == Some(policy.id),
            outcome: truth.into(),
            condition: indexed.condition.map(|condition| self.node(condition)),
        }
    }

    fn node(&mut self, id: NodeId) -> ExplainedNode<'e> {
        let outcome = self.run.truth(id).into();
        let operation: &'e Operation = self.plan.program.node(id);
        match operation {
            Operation::All(children) => {
                ExplainedNode::And { outcome, children: self.children(children) }
            }
            Operation::Any(children) => {
                ExplainedNode::Or { outcome, children: self.children(children) }
            }
            Operation::Not(child) => {
                ExplainedNode::Not { outcome, child: Box::new(self.node(*child)) }
            }
            Operation::Test(test) => ExplainedNode::Condition(self.test(test, outcome)),
        }
    }

    /// In the order of the tree, not in that of the program.
    fn children(&mut self, children: &[Child]) -> Vec<ExplainedNode<'e>> {
        as_written(children).map(|child| self.node(child)).collect()
    }

    fn test(&self, test: &'e Test<Slot>, outcome: Outcome) -> ExplainedTest<'e> {
        let because = (outcome == Outcome::Undetermined)
            .then(|| self.plan.undetermined(self.run.cause(test), self.answers))
            .as_ref()
            .map(Undetermined::to_string);
        ExplainedTest {
            outcome,
            because,
            attribute: self.plan.path(test.attribute).to_string(),
            operator: test.predicate.operator_name(),
            value: self.right_side(&test.predicate),
            if_missing: test.if_missing,
            actual: self.actual(test.attribute),
        }
    }

    fn right_side(&self, predicate: &'e Predicate<Slot>) -> Option<Json<'e>> {
        let text = |text: String| Json::String(Cow::Owned(text));
        Some(match predicate {
            Predicate::Exists => return None,
            Predicate::Matches(pattern) => Json::String(pattern.source().into()),
            Predicate::IpIn(networks) => {
                Json::Array(networks.iter().map(|network| text(network.to_string())).collect())
            }
            Predicate::Compare(_, operand) => match operand {
                Operand::Attribute(slot) => {
                    let path = text(self.plan.path(*slot).to_string());
                    Json::Object(vec![("attribute".into(), path)])
                }
                Operand::Text(text) => Json::String((&**text).into()),
                Operand::Number(number) => Json::Number(*number),
                Operand::Bool(value) => Json::Bool(*value),
                Operand::List(list) => {
                    let texts = list.texts().map(|text| Json::String(text.into()));
                    Json::Array(texts.chain(list.numbers().map(Json::Number)).collect())
                }
                Operand::Instant(instant) => text(instant.to_rfc3339()),
            },
        })
    }

    fn rules(&self) -> Vec<ExplainedRule<'e>> {
        let rules = self.plan.rules.matching(self.check, &self.plan.resource);
        let explained = |rule: MatchedRule<'e>| ExplainedRule {
            id: rule.id,
            sub: rule.sub,
            dom: rule.dom,
            obj: rule.obj(),
            act: rule.act,
            effect: rule.effect,
            decides: self.decides == Some(rule.id),
        };
        rules.into_iter().map(explained).collect()
    }

    fn attributes(&self) -> Vec<ExplainedAttribute<'e>> {
        let explained = |(slot, path): (Slot, &'e AttributePath)| ExplainedAttribute {
            attribute: path.to_string(),
            source: match path {
                AttributePath::User(_) | AttributePath::Resource(_) | AttributePath::Request(_) => {
                    "request".into()
                }
                AttributePath::Token(_) => "token".into(),
                AttributePath::Resolved(resolved) => {
                    format!("resolver:{}", resolved.namespace).into()
                }
            },
            value: self.actual(slot),
            because: matches!(self.run.value(slot), Some(Value::Failed | Value::Unasked))
                .then(|| why_unresolved(path, self.answers)),
        };
        (0..).zip(self.plan.slots.paths()).map(explained).collect()
    }

    /// The value that the conditions see; a claim whole, which may be of a type that no operator compares.
    fn actual(&self, slot: Slot) -> Option<Json<'e>> {
        match self.plan.path(slot) {
            AttributePath::Token(path) => self.check.claims?.claim(path).cloned(),
            _ => match self.run.value(slot)? {
                Value::Failed | Value::Unasked => None,
                value => Some(shown(value).into_owned()),
            },
        }
    }
}
