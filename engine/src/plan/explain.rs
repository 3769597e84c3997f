//! Explains a decision: every candidate policy and rule, from the program and the table that decide.

use std::borrow::Cow;

use hashbrown::HashSet;
use uuid::Uuid;

use super::Plan;
use super::abac::Abac;
use super::explanation::{
    ExplainedAttribute, ExplainedItems, ExplainedNode, ExplainedPolicy, ExplainedReference,
    ExplainedRule, ExplainedTest, Explanation, TruthValue,
};
use super::index::Rank;
use super::program::{Body, Child, NodeId, Operation, Program, Run, as_written};
use super::slots::{Slot, Slots};
use super::stages::LayerValues;
use crate::condition::{AttributePath, Condition, Named, Predicate, RequestField, Test};
use crate::excerpt::excerpt;
use crate::expression;
use crate::json::Json;
use crate::operator::Quantifier;
use crate::policy::PlannedPolicy;
use crate::rbac::{MatchedRule, WILDCARD};
use crate::relation::RELATION;
use crate::request::Check;
use crate::resolution::AttributeAnswers;
use crate::resource::ResourcePattern;
use crate::roles::Roles;
use crate::value::AttributeValue;

/// Longest value that each test shows, in bytes of JSON. A condition can have 1,000 tests of one attribute of a megabyte.
const MAX_ACTUAL: usize = 256;
/// Longest expression that a node shows, in bytes. The text of a node is also part of the text of each node around it.
const MAX_EXPRESSION: usize = 4 << 10;
/// All expressions of an explanation, in bytes: as large as the expressions of a thousand usual policies.
const MAX_EXPRESSIONS: usize = 1 << 20;

impl Plan {
    /// Explains the decision on `check` with these `answers`. `decides` is the id of the policy or rule that decided.
    pub fn explain<'e>(
        &'e self,
        check: &'e Check<'e>,
        answers: &'e AttributeAnswers,
        decides: Option<Uuid>,
    ) -> Explanation<'e> {
        let texts = self.made_texts(check);
        let mut values = LayerValues::default();
        self.read_values(check, answers, &texts, &mut values);
        let layers = self.layers.iter().zip(values.iter());
        let scopes = layers.map(|(layer, values)| {
            let Abac { program, slots, .. } = &*layer.abac;
            Scope::new(check, (program, slots), Some(Run::new(program, values)))
        });
        let (scopes, attributes, left) = (scopes.collect(), Vec::new(), MAX_EXPRESSIONS);
        let (shown, around) = (HashSet::new(), Vec::new());
        let mut explainer = Explainer {
            plan: self,
            check,
            answers,
            scopes,
            decides,
            attributes,
            left,
            shown,
            around,
        };
        Explanation {
            policies: explainer.policies(),
            rules: explainer.all_rules(),
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
    // Only a cut text ends in an ellipsis: the JSON of a list or an object ends in a bracket.
    if text.ends_with('…') { Json::String(text.into()) } else { value }
}

/// Names the source of an attribute's value.
fn source_of(path: &AttributePath, check: &Check<'_>) -> Cow<'static, str> {
    if let Some((attributes, name)) = check.attributes.entity_attribute(path) {
        return attributes.place(name).into_str().into();
    }
    match path {
        AttributePath::Request(RequestField::Roles)
            if matches!(check.roles, Roles::Stored(_) | Roles::Withheld) =>
        {
            "directory".into()
        }
        AttributePath::User(_)
        | AttributePath::Resource(_)
        | AttributePath::Action(_)
        | AttributePath::Context(_)
        | AttributePath::Request(_) => "request".into(),
        // An item is not among the attributes of an explanation; its list is.
        AttributePath::Item => "request".into(),
        AttributePath::Token(_) => "token".into(),
        AttributePath::Resolver(resolved) if &*resolved.namespace == RELATION => "relations".into(),
        AttributePath::Resolver(resolved) => format!("resolver:{}", resolved.namespace).into(),
    }
}

/// Returns the references by which the directory has the value of an attribute.
fn via(path: &AttributePath, check: &Check<'_>) -> Vec<ExplainedReference> {
    let Some((attributes, name)) = check.attributes.entity_attribute(path) else {
        return Vec::new();
    };
    let namespace = path.sent().map_or("", |(namespace, _)| namespace);
    let way = attributes.way_to(name).into_iter();
    way.map(|one| ExplainedReference {
        attribute: format!("{namespace}.{}", one.reference),
        value: one.id.to_owned(),
        entity: format!("{}:{}", one.to, one.id),
    })
    .collect()
}

/// A program with the values that its conditions read: of a layer of the plan, or of the condition on an item.
struct Scope<'e, 'r> {
    program: &'e Program,
    slots: &'e Slots,
    /// `None` if the condition is asked about no item.
    run: Option<Run<'r>>,
    /// The value of each slot, or its beginning: as many tests show it as read it.
    brief: Vec<Option<Json<'e>>>,
    /// Whether each slot is among the attributes of the explanation.
    is_noted: Vec<bool>,
}

impl<'e, 'r> Scope<'e, 'r>
where
    'e: 'r,
{
    fn new(
        check: &'e Check<'e>,
        (program, slots): (&'e Program, &'e Slots),
        run: Option<Run<'r>>,
    ) -> Self {
        let mut scope = Self { program, slots, run, brief: Vec::new(), is_noted: Vec::new() };
        let all = (0..).zip(slots.paths());
        scope.brief = all.map(|(slot, _)| scope.actual(check, slot).map(beginning)).collect();
        scope.is_noted = vec![false; scope.brief.len()];
        scope
    }

    fn path(&self, slot: Slot) -> &'e AttributePath {
        self.slots.path(slot)
    }

    /// Returns the value that the conditions read. A claim is shown whole, also if no operator compares its type.
    fn actual(&self, check: &'e Check<'e>, slot: Slot) -> Option<Json<'e>> {
        let run = self.run.as_ref()?;
        match self.path(slot) {
            AttributePath::Token(path) => check.claims?.claim(path).cloned(),
            _ => match run.value(slot)? {
                AttributeValue::Failed | AttributeValue::NotRequested => None,
                value => Some(value.to_json().into_owned()),
            },
        }
    }

    /// Returns the truth of a node; `None` if the condition is asked about no item.
    fn outcome(&mut self, node: NodeId) -> Option<TruthValue> {
        self.run.as_mut().map(|run| run.truth(node).into())
    }

    /// Returns the cause of a test if its `outcome` is undetermined.
    fn because(
        &mut self,
        node: NodeId,
        test: &Test<Slot>,
        outcome: Option<TruthValue>,
        answers: &AttributeAnswers,
    ) -> Option<String> {
        let is_undetermined = outcome == Some(TruthValue::Undetermined);
        let (slots, run) = (self.slots, self.run.as_mut().filter(|_| is_undetermined)?);
        Some(run.cause(node, test, slots, answers).to_string())
    }
}

/// The state of one explanation.
struct Explainer<'e, 'r> {
    plan: &'e Plan,
    check: &'e Check<'e>,
    answers: &'e AttributeAnswers,
    /// The layers of the plan, or one condition on an item.
    scopes: Vec<Scope<'e, 'r>>,
    decides: Option<Uuid>,
    /// The attributes that the policies read, in the order in which they come, each with the number of a layer.
    attributes: Vec<(usize, Slot)>,
    /// The bytes that further expressions may take.
    left: usize,
    /// The names whose conditions are explained.
    shown: HashSet<&'e str>,
    /// The explained conditions of the names that a condition on items uses. They do not depend on the item.
    around: Vec<(&'e str, ExplainedNode<'e>)>,
}

impl<'e, 'r> Explainer<'e, 'r>
where
    'e: 'r,
{
    fn policies(&mut self) -> Vec<ExplainedPolicy<'e>> {
        let mut policies = Vec::new();
        for (at, layer) in (0..).zip(&self.plan.layers) {
            let ranked = layer.ranks().filter_map(|rank| Some((layer.policy(rank)?, rank)));
            policies.extend(ranked.map(|(policy, rank)| (policy, at, rank)));
        }
        policies.sort_unstable_by_key(|(policy, ..)| policy.order());
        // Rules by relations are shown among the rules.
        let policies = policies.into_iter().filter(|(policy, ..)| !policy.is_rule);
        policies.map(|(policy, at, rank)| self.policy(policy, at, rank)).collect()
    }

    /// Explains one policy. An attribute that was not requested cannot change the decision, so its policy counts as
    /// applying only if it applies for every value of that attribute.
    fn policy(&mut self, policy: &'e PlannedPolicy, at: usize, rank: Rank) -> ExplainedPolicy<'e> {
        let abac = &self.plan.layers[at].abac;
        let indexed = abac.conditions[rank as usize];
        let written = abac.written.get(rank);
        let (truth, applies) = match &mut self.scopes[at].run {
            Some(run) => {
                let scanned = run.scanned();
                let truth = indexed.condition.and_then(|root| run.truth(root));
                // Steps that are taken again are not counted again: long lists have a budget.
                run.resume(scanned);
                (truth, run.applies(indexed) == Some(true))
            }
            None => (None, false),
        };
        ExplainedPolicy {
            id: policy.id,
            name: &policy.name,
            effect: policy.effect,
            priority: policy.priority,
            applies,
            decides: self.decides == Some(policy.id),
            outcome: truth.into(),
            condition: indexed.condition.map(|root| self.node(at, root, written).0),
        }
    }

    /// Explains a node, and returns it as a condition too. `written` is the condition with its names, if it has some.
    fn node(
        &mut self,
        at: usize,
        id: NodeId,
        written: Option<&'e Condition>,
    ) -> (ExplainedNode<'e>, Condition) {
        if let Some(Condition::Named(named)) = written {
            return self.named(at, id, named);
        }
        let scope = &mut self.scopes[at];
        let outcome = scope.outcome(id);
        let operation: &'e Operation = scope.program.node(id);
        match operation {
            Operation::All(children) => {
                let (children, conditions) = self.children(at, children, written);
                let condition = Condition::And(conditions);
                let expression = self.expression(&condition);
                (ExplainedNode::And { outcome, expression, children }, condition)
            }
            Operation::Any(children) => {
                let (children, conditions) = self.children(at, children, written);
                let condition = Condition::Or(conditions);
                let expression = self.expression(&condition);
                (ExplainedNode::Or { outcome, expression, children }, condition)
            }
            Operation::Not(child) => {
                let written = match written {
                    Some(Condition::Not(inner)) => Some(&**inner),
                    _ => None,
                };
                let (child, condition) = self.node(at, *child, written);
                let condition = Condition::Not(Box::new(condition));
                let (expression, child) = (self.expression(&condition), Box::new(child));
                (ExplainedNode::Not { outcome, expression, child }, condition)
            }
            Operation::Test(test) => {
                let mut slots = Vec::new();
                let condition = Condition::Test(test.clone().map(&mut |slot| {
                    slots.push(slot);
                    self.scopes[at].path(slot).clone()
                }));
                slots.into_iter().for_each(|slot| self.note(at, slot));
                let expression = self.expression(&condition);
                let explained = match &test.predicate {
                    Predicate::Items(items) => {
                        self.items((at, id), test, items.quantifier(), (outcome, expression))
                    }
                    Predicate::Length(..) => {
                        ExplainedNode::Length(self.test((at, id), test, (outcome, expression)))
                    }
                    _ => ExplainedNode::Condition(self.test((at, id), test, (outcome, expression))),
                };
                (explained, condition)
            }
        }
    }

    /// Explains the use of a named condition, whose root is the node: the condition itself where the name first stands.
    fn named(&mut self, at: usize, id: NodeId, named: &'e Named) -> (ExplainedNode<'e>, Condition) {
        let outcome = self.scopes[at].outcome(id);
        let condition = Condition::Named(named.clone());
        let expression = self.expression(&condition);
        let place = self.around.iter().position(|(name, _)| *name == named.name());
        let child = match place {
            Some(place) => Some(self.around.swap_remove(place).1),
            None => self.meaning(at, id, named),
        };
        let child = child.map(Box::new);
        (ExplainedNode::Named { name: named.name(), outcome, expression, child }, condition)
    }

    /// Explains what a name stands for, where it first stands.
    fn meaning(&mut self, at: usize, id: NodeId, named: &'e Named) -> Option<ExplainedNode<'e>> {
        let meaning = named.meaning()?;
        let is_first = self.shown.insert(named.name());
        is_first.then(|| self.node(at, id, Some(&**meaning)).0)
    }

    /// Explains the children in the order of the tree, not of the program.
    fn children(
        &mut self,
        at: usize,
        children: &[Child],
        written: Option<&'e Condition>,
    ) -> (Vec<ExplainedNode<'e>>, Box<[Condition]>) {
        let written: &[Condition] = match written {
            Some(Condition::And(children) | Condition::Or(children)) => children,
            _ => &[],
        };
        let children = as_written(children).enumerate();
        let nodes = children.map(|(index, child)| self.node(at, child, written.get(index)));
        let (explained, conditions): (Vec<_>, Vec<_>) = nodes.unzip();
        (explained, conditions.into())
    }

    /// Writes the expression of a node, within what is left for all.
    fn expression(&mut self, condition: &Condition) -> Option<String> {
        // Expressions have no operator for a search.
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
        &mut self,
        (at, node): (usize, NodeId),
        test: &'e Test<Slot>,
        (outcome, expression): (Option<TruthValue>, Option<String>),
    ) -> ExplainedTest<'e> {
        let scope = &mut self.scopes[at];
        let operator = match &test.predicate {
            Predicate::Length(operator, _) => operator.into_str(),
            other => other.operator_name(),
        };
        ExplainedTest {
            outcome,
            expression,
            because: scope.because(node, test, outcome, self.answers),
            attribute: scope.path(test.attribute).to_string(),
            operator,
            value: test.predicate.right_side(|slot| scope.path(*slot).to_string()),
            if_missing: test.if_missing,
            actual: scope.brief.get(test.attribute as usize).cloned().flatten(),
        }
    }

    /// Explains a condition on items, for the item that decides.
    fn items(
        &mut self,
        (at, node): (usize, NodeId),
        test: &'e Test<Slot>,
        quantifier: Quantifier,
        (outcome, expression): (Option<TruthValue>, Option<String>),
    ) -> ExplainedNode<'e> {
        let scope = &mut self.scopes[at];
        let item = scope.run.as_mut().and_then(|run| run.judge_items(node, test, quantifier)?.item);
        let explained = ExplainedItems {
            outcome,
            expression,
            because: scope.because(node, test, outcome, self.answers),
            attribute: scope.path(test.attribute).to_string(),
            if_missing: test.if_missing,
            actual: scope.brief.get(test.attribute as usize).cloned().flatten(),
            item: item.map(|item| beginning(item.to_json().into_owned())),
            child: Box::new(self.item((at, node), item, test)),
        };
        match quantifier {
            Quantifier::Any => ExplainedNode::Any(explained),
            Quantifier::All => ExplainedNode::All(explained),
        }
    }

    /// Explains the condition on an item, without outcomes if there is none.
    fn item(
        &mut self,
        (at, node): (usize, NodeId),
        item: Option<AttributeValue<'r>>,
        test: &'e Test<Slot>,
    ) -> ExplainedNode<'e> {
        let written = match &test.predicate {
            Predicate::Items(items) => Some(items.child()),
            _ => None,
        };
        let body: &'e Body = self.scopes[at].program.body(node);
        let mut around = Vec::new();
        for named in written.into_iter().flat_map(Condition::uses_of_names) {
            let node = body.named(named.name());
            let meaning = node.and_then(|node| self.meaning(at, node, named));
            around.extend(meaning.map(|meaning| (named.name(), meaning)));
        }
        let Scope { run, .. } = &mut self.scopes[at];
        let values = run.as_mut().zip(item).map(|(run, item)| body.values_of(item, run));
        let run = run.as_mut().zip(values.as_ref()).map(|(run, values)| body.run(values, run));
        let scope = Scope::new(self.check, (body.program(), &body.slots), run);
        let mut inner = Explainer {
            plan: self.plan,
            check: self.check,
            answers: self.answers,
            scopes: vec![scope],
            decides: None,
            attributes: Vec::new(),
            left: self.left,
            // It goes on with what this one has counted, and gives it back.
            shown: std::mem::take(&mut self.shown),
            around,
        };
        let (child, _) = inner.node(0, body.root, written);
        (self.left, self.shown) = (inner.left, inner.shown);
        child
    }

    /// Explains the rules that match, in the order in which they decide: rules of the table, and rules whose subject is
    /// a relation.
    fn all_rules(&mut self) -> Vec<ExplainedRule<'e>> {
        let rules = self.plan.rules.matching(self.check, &self.plan.resource);
        let mut rules: Vec<_> = rules.into_iter().map(|rule| self.rule(rule)).collect();
        let plan = self.plan;
        for (at, layer) in (0..).zip(&plan.layers) {
            let ranked = layer.ranks().filter_map(|rank| Some((layer.policy(rank)?, rank)));
            let ranked = ranked.filter(|(policy, _)| policy.is_rule);
            rules.extend(ranked.filter_map(|(rule, rank)| self.relation_rule(rule, at, rank)));
        }
        rules.sort_unstable_by_key(|rule| (rule.effect, rule.id));
        rules
    }

    /// Explains a rule whose subject is a relation, if it matches. Notes the relation if nothing else lacks.
    fn relation_rule(
        &mut self,
        rule: &'e PlannedPolicy,
        at: usize,
        rank: Rank,
    ) -> Option<ExplainedRule<'e>> {
        let layer = &self.plan.layers[at];
        let run = self.scopes[at].run.as_mut()?;
        let indexed = layer.abac.conditions[rank as usize];
        let root = indexed.condition?;
        let tests = match layer.abac.program.node(root) {
            Operation::All(children) => as_written(children).collect(),
            _ => vec![root],
        };
        let mut relation = None;
        for node in tests {
            match layer.abac.program.node(node) {
                // The relation is noted whatever its truth is, so only the other parts must be true.
                Operation::Test(test) if layer.abac.slots.is_resolved(test.attribute) => {
                    relation = Some(test.attribute);
                }
                _ if run.truth(node) == Some(true) => {}
                _ => return None,
            }
        }
        let applies = run.applies(indexed) == Some(true);
        self.note(at, relation?);
        applies.then(|| self.named_rule(rule))
    }

    /// Explains a rule that matches, from its tuple.
    fn named_rule(&self, rule: &'e PlannedPolicy) -> ExplainedRule<'e> {
        // The name is `<sub>, <dom>, <obj>, <act>`: parts come off its end, and the subject stays.
        let mut rest = &*rule.name;
        let action = self.check.action;
        let actions = [&*action.text(), action.written(), WILDCARD];
        // A part may have `, ` itself: only the texts that match the check tell where each begins.
        let act = take_last(&mut rest, &actions);
        let patterns = ResourcePattern::matching(&self.plan.resource);
        let obj = take_last(&mut rest, &patterns.each_ref().map(String::as_str)).to_owned();
        let dom = take_last(&mut rest, &[self.check.domain, WILDCARD]);
        let decides = self.decides == Some(rule.id);
        ExplainedRule { id: rule.id, sub: rest, dom, obj, act, effect: rule.effect, decides }
    }

    fn rule(&self, rule: MatchedRule<'e>) -> ExplainedRule<'e> {
        ExplainedRule {
            id: rule.id,
            sub: rule.sub(),
            dom: rule.dom(),
            obj: rule.obj().into_owned(),
            act: rule.act(),
            effect: rule.effect,
            decides: self.decides == Some(rule.id),
        }
    }

    /// Notes that a policy reads an attribute.
    fn note(&mut self, at: usize, slot: Slot) {
        if !std::mem::replace(&mut self.scopes[at].is_noted[slot as usize], true) {
            self.attributes.push((at, slot));
        }
    }

    fn attributes(&self) -> Vec<ExplainedAttribute<'e>> {
        let mut paths = HashSet::new();
        let attributes = self.attributes.iter();
        // An attribute can be in several layers: the first one shows it.
        let new = attributes.filter(|(at, slot)| paths.insert(self.scopes[*at].path(*slot)));
        let mut all: Vec<_> =
            new.map(|(at, slot)| self.attribute(&self.scopes[*at], *slot)).collect();
        // Rules lack the roles, too, and no condition may read them.
        let roles = AttributePath::Request(RequestField::Roles);
        if self.is_overridden(&roles) && !paths.contains(&roles) {
            all.push(ExplainedAttribute {
                attribute: roles.to_string(),
                relation: None,
                source: source_of(&roles, self.check),
                overridden: true,
                value: Some(Json::Array(Vec::new())),
                via: Vec::new(),
                because: None,
            });
        }
        all
    }

    fn attribute(&self, explained: &Scope<'e, '_>, slot: Slot) -> ExplainedAttribute<'e> {
        let path = explained.path(slot);
        let is_unknown = matches!(
            explained.run.as_ref().and_then(|run| run.value(slot)),
            Some(AttributeValue::Failed | AttributeValue::NotRequested)
        );
        let relation = match path {
            AttributePath::Resolver(own) if &*own.namespace == RELATION => Some(&*own.name),
            _ => None,
        };
        ExplainedAttribute {
            attribute: path.to_string(),
            relation,
            source: source_of(path, self.check),
            overridden: self.is_overridden(path),
            value: explained.actual(self.check, slot),
            via: via(path, self.check),
            because: is_unknown.then(|| self.answers.why_unknown(path)),
        }
    }

    /// Returns whether the request sent an attribute that is taken from another place alone.
    fn is_overridden(&self, path: &AttributePath) -> bool {
        if let AttributePath::Request(RequestField::Roles) = path {
            return matches!(self.check.roles, Roles::Withheld);
        }
        let sent = self.check.attributes.entity_attribute(path);
        sent.is_some_and(|(sent, name)| sent.is_overridden(name))
    }
}

/// Takes the last part off the name of a rule, if it is one of these texts; else returns an empty text.
fn take_last<'n>(rest: &mut &'n str, texts: &[&str]) -> &'n str {
    let all = *rest;
    let before = texts.iter().find_map(|text| all.strip_suffix(*text)?.strip_suffix(", "));
    let Some(before) = before else { return "" };
    *rest = before;
    // Behind the two bytes of `, `.
    &all[before.len() + 2..]
}
