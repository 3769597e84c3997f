//! Explains a decision: every candidate policy and rule, from the program and the table that decide.

use std::borrow::Cow;

use uuid::Uuid;

use super::explanation::{
    ExplainedAttribute, ExplainedNode, ExplainedPolicy, ExplainedRule, ExplainedTest, Explanation,
    TruthValue,
};
use super::index::Indexed;
use super::program::{Child, NodeId, Operation, Run, as_written};
use super::slots::{Slot, Values};
use super::{Plan, unresolved_cause};
use crate::condition::{AttributePath, Condition, Test};
use crate::decision::Undetermined;
use crate::excerpt::excerpt;
use crate::expression;
use crate::json::Json;
use crate::policy::PlannedPolicy;
use crate::rbac::MatchedRule;
use crate::request::Check;
use crate::resolution::AttributeAnswers;
use crate::value::AttributeValue;

/// Longest value that each test shows, in bytes of JSON. A condition can have 1,000 tests of one attribute of a megabyte.
const MAX_ACTUAL: usize = 256;
/// Longest expression that a node shows, in bytes. The text of a node is also part of that of each node around it.
const MAX_EXPRESSION: usize = 4 << 10;
/// All expressions of an explanation, in bytes: as large as those of a thousand usual policies.
const MAX_EXPRESSIONS: usize = 1 << 20;

/// Shows a value of the request: a scalar or a list of scalars.
fn shown(value: AttributeValue<'_>) -> Json<'_> {
    match value {
        AttributeValue::Text(text) => Json::String(text.into()),
        AttributeValue::Number(number) => Json::Number(number),
        AttributeValue::Bool(value) => Json::Bool(value),
        AttributeValue::List(list) => {
            let mut items = Vec::new();
            list.for_each(|item| items.push(shown(item)));
            Json::Array(items)
        }
        AttributeValue::Instant(_)
        | AttributeValue::Opaque
        | AttributeValue::Failed
        | AttributeValue::NotRequested => Json::Null,
    }
}

impl Plan {
    /// Explains the decision on `check` with these `answers`. `decides` is the id of the policy or rule that decided.
    pub fn explain<'e>(
        &'e self,
        check: &'e Check<'e>,
        answers: &'e AttributeAnswers,
        decides: Option<Uuid>,
    ) -> Explanation<'e> {
        let now = self.abac.slots.time_text(check.now);
        let mut values = Values::new();
        self.abac.slots.read(check, answers, &now, &mut values);
        let run = Run::new(&self.abac.program, &values);
        let (brief, left) = (Vec::new(), MAX_EXPRESSIONS);
        let mut explainer = Explainer { plan: self, check, answers, run, decides, brief, left };
        let slots = (0..).zip(self.abac.slots.paths());
        explainer.brief = slots.map(|(slot, _)| explainer.actual(slot).map(beginning)).collect();
        Explanation {
            policies: explainer.policies(),
            rules: explainer.rules(),
            attributes: explainer.attributes(),
        }
    }
}

/// Returns a value that many tests can show: itself, or the beginning of its text if that is long.
fn beginning(value: Json<'_>) -> Json<'_> {
    let text = match &value {
        Json::String(text) if text.len() > MAX_ACTUAL => excerpt(text, MAX_ACTUAL),
        Json::Array(_) | Json::Object(_) => excerpt(&value, MAX_ACTUAL),
        _ => return value,
    };
    if text.ends_with('…') { Json::String(text.into()) } else { value }
}

/// Names the source of an attribute's value.
fn source_of(path: &AttributePath, check: &Check<'_>) -> Cow<'static, str> {
    match path {
        AttributePath::User(name) if check.attributes.user.is_stored(name) => "directory".into(),
        AttributePath::Resource(name) if check.attributes.resource.is_stored(name) => {
            "directory".into()
        }
        AttributePath::User(_)
        | AttributePath::Resource(_)
        | AttributePath::Action(_)
        | AttributePath::Context(_)
        | AttributePath::Request(_) => "request".into(),
        AttributePath::Token(_) => "token".into(),
        AttributePath::Resolver(resolved) => format!("resolver:{}", resolved.namespace).into(),
    }
}

/// The state of one explanation.
struct Explainer<'e, 'r> {
    plan: &'e Plan,
    check: &'e Check<'e>,
    answers: &'e AttributeAnswers,
    run: Run<'r>,
    decides: Option<Uuid>,
    /// The value of each slot, or its beginning: as many tests show it as read it.
    brief: Vec<Option<Json<'e>>>,
    /// The bytes that further expressions may take.
    left: usize,
}

impl<'e> Explainer<'e, '_> {
    fn policies(&mut self) -> Vec<ExplainedPolicy<'e>> {
        let plan = self.plan;
        let policies = plan.abac.policies.iter().zip(&plan.abac.conditions);
        policies.map(|(policy, indexed)| self.policy(policy, *indexed)).collect()
    }

    /// Explains one policy. An attribute that was not requested cannot change the decision, so its policy counts as
    /// applying only if it applies for every value of that attribute.
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
            condition: indexed.condition.map(|condition| self.node(condition).0),
        }
    }

    /// Explains a node, and returns it as a condition too.
    fn node(&mut self, id: NodeId) -> (ExplainedNode<'e>, Condition) {
        let outcome = self.run.truth(id).into();
        let operation: &'e Operation = self.plan.abac.program.node(id);
        match operation {
            Operation::All(children) => {
                let (children, conditions) = self.children(children);
                let condition = Condition::And(conditions);
                let expression = self.expression(&condition);
                (ExplainedNode::And { outcome, expression, children }, condition)
            }
            Operation::Any(children) => {
                let (children, conditions) = self.children(children);
                let condition = Condition::Or(conditions);
                let expression = self.expression(&condition);
                (ExplainedNode::Or { outcome, expression, children }, condition)
            }
            Operation::Not(child) => {
                let (child, condition) = self.node(*child);
                let condition = Condition::Not(Box::new(condition));
                let (expression, child) = (self.expression(&condition), Box::new(child));
                (ExplainedNode::Not { outcome, expression, child }, condition)
            }
            Operation::Test(test) => {
                let path = |slot| self.plan.path(slot).clone();
                let condition = Condition::Test(test.clone().map(&mut { path }));
                let expression = self.expression(&condition);
                let explained = self.test(id, test, outcome, expression);
                (ExplainedNode::Condition(explained), condition)
            }
        }
    }

    /// Explains the children in the order of the tree, not in that of the program.
    fn children(&mut self, children: &[Child]) -> (Vec<ExplainedNode<'e>>, Box<[Condition]>) {
        let nodes = as_written(children).map(|child| self.node(child));
        let (explained, conditions): (Vec<_>, Vec<_>) = nodes.unzip();
        (explained, conditions.into())
    }

    /// Writes the expression of a node, within what is left for all.
    fn expression(&mut self, condition: &Condition) -> Option<String> {
        if condition.has_search() {
            return None;
        }
        let most = MAX_EXPRESSION.min(self.left);
        let text = expression::print_within(condition, most);
        // A text that is too long took as much work.
        self.left -= text.as_ref().map_or(most, String::len);
        text
    }

    fn test(
        &self,
        node: NodeId,
        test: &'e Test<Slot>,
        outcome: TruthValue,
        expression: Option<String>,
    ) -> ExplainedTest<'e> {
        let because = (outcome == TruthValue::Undetermined)
            .then(|| self.plan.undetermined(self.run.cause(node, test), self.answers))
            .as_ref()
            .map(Undetermined::to_string);
        ExplainedTest {
            outcome,
            expression,
            because,
            attribute: self.plan.path(test.attribute).to_string(),
            operator: test.predicate.operator_name(),
            value: test.predicate.right_side(|slot| self.plan.path(*slot).to_string()),
            if_missing: test.if_missing,
            actual: self.brief.get(test.attribute as usize).cloned().flatten(),
        }
    }

    fn rules(&self) -> Vec<ExplainedRule<'e>> {
        let rules = self.plan.rules.matching(self.check, &self.plan.resource);
        rules.into_iter().map(|rule| self.rule(rule)).collect()
    }

    fn rule(&self, rule: MatchedRule<'e>) -> ExplainedRule<'e> {
        ExplainedRule {
            id: rule.id,
            sub: rule.sub,
            dom: rule.dom,
            obj: rule.obj(),
            act: rule.act,
            effect: rule.effect,
            decides: self.decides == Some(rule.id),
        }
    }

    fn attributes(&self) -> Vec<ExplainedAttribute<'e>> {
        (0..)
            .zip(self.plan.abac.slots.paths())
            .map(|(slot, path)| self.attribute(slot, path))
            .collect()
    }

    fn attribute(&self, slot: Slot, path: &'e AttributePath) -> ExplainedAttribute<'e> {
        let is_unknown = matches!(
            self.run.value(slot),
            Some(AttributeValue::Failed | AttributeValue::NotRequested)
        );
        ExplainedAttribute {
            attribute: path.to_string(),
            source: source_of(path, self.check),
            value: self.actual(slot),
            because: is_unknown.then(|| unresolved_cause(path, self.answers)),
        }
    }

    /// Returns the value that the conditions read. A claim is shown whole, also if no operator compares its type.
    fn actual(&self, slot: Slot) -> Option<Json<'e>> {
        match self.plan.path(slot) {
            AttributePath::Token(path) => self.check.claims?.claim(path).cloned(),
            _ => match self.run.value(slot)? {
                AttributeValue::Failed | AttributeValue::NotRequested => None,
                value => Some(shown(value).into_owned()),
            },
        }
    }
}
