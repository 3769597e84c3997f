//! The parts of an explanation (`docs/semantics.md`, section 2.8).

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;
use uuid::Uuid;

use crate::json::Json;
use crate::rbac::Effect;

/// Every policy, rule and attribute that one check considers (`docs/semantics.md`, section 2.8).
#[derive(Debug, Serialize)]
pub struct Explanation<'e> {
    /// Every enabled policy for the resource, in the order in which they decide. The first that applies decides,
    /// unless an RBAC rule denies.
    pub policies: Vec<ExplainedPolicy<'e>>,
    /// Every RBAC rule that matches.
    pub rules: Vec<ExplainedRule<'e>>,
    /// Every attribute that a condition reads.
    pub attributes: Vec<ExplainedAttribute<'e>>,
}

impl<'e> Explanation<'e> {
    /// Returns the explained conditions of the names that policies use, by name.
    pub fn named(&self) -> HashMap<&'e str, &ExplainedNode<'e>> {
        let mut named = HashMap::new();
        let conditions = self.policies.iter().filter_map(|policy| policy.condition.as_ref());
        conditions.for_each(|condition| condition.add_named(&mut named));
        named
    }
}

/// A policy and its result for the check.
#[derive(Debug, Serialize)]
pub struct ExplainedPolicy<'e> {
    /// The policy's id.
    pub id: Uuid,
    /// The policy's name.
    pub name: &'e str,
    /// The effect if the policy applies.
    pub effect: Effect,
    /// The priority: the highest decides.
    pub priority: i32,
    /// True if the condition is true, or if it is undetermined and the policy denies.
    pub applies: bool,
    /// True if this decided the check.
    pub decides: bool,
    /// The truth of the condition.
    pub outcome: TruthValue,
    /// The condition; `None` if the stored condition does not compile.
    pub condition: Option<ExplainedNode<'e>>,
}

/// The truth of a condition, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TruthValue {
    True,
    False,
    Undetermined,
}

impl From<Option<bool>> for TruthValue {
    fn from(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::True,
            Some(false) => Self::False,
            None => Self::Undetermined,
        }
    }
}

/// A node of a condition tree, as written, and its truth, which is left out below a list of which no item decides.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the fields are those of the tree")]
pub enum ExplainedNode<'e> {
    And {
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TruthValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expression: Option<String>,
        children: Vec<ExplainedNode<'e>>,
    },
    Or {
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TruthValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expression: Option<String>,
        children: Vec<ExplainedNode<'e>>,
    },
    Not {
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TruthValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expression: Option<String>,
        child: Box<ExplainedNode<'e>>,
    },
    Condition(ExplainedTest<'e>),
    Length(ExplainedTest<'e>),
    Any(ExplainedItems<'e>),
    All(ExplainedItems<'e>),
    Named {
        name: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TruthValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expression: Option<String>,
        /// The condition that the name stands for, where the name first stands.
        #[serde(skip_serializing_if = "Option::is_none")]
        child: Option<Box<ExplainedNode<'e>>>,
    },
}

impl<'e> ExplainedNode<'e> {
    fn add_named<'n>(&'n self, named: &mut HashMap<&'e str, &'n Self>) {
        match self {
            Self::And { children, .. } | Self::Or { children, .. } => {
                children.iter().for_each(|child| child.add_named(named));
            }
            Self::Not { child, .. } => child.add_named(named),
            Self::Any(items) | Self::All(items) => items.child.add_named(named),
            Self::Named { name, child: Some(child), .. } => {
                named.insert(*name, &**child);
                child.add_named(named);
            }
            Self::Named { .. } | Self::Condition(_) | Self::Length(_) => {}
        }
    }

    /// Returns the expression that stands for the node; `None` if none does, or if it is too long to be shown.
    pub fn expression(&self) -> Option<&str> {
        match self {
            Self::And { expression, .. }
            | Self::Or { expression, .. }
            | Self::Not { expression, .. }
            | Self::Named { expression, .. }
            | Self::Condition(ExplainedTest { expression, .. })
            | Self::Length(ExplainedTest { expression, .. })
            | Self::Any(ExplainedItems { expression, .. })
            | Self::All(ExplainedItems { expression, .. }) => expression.as_deref(),
        }
    }
}

/// A `CONDITION` or `LENGTH` node and its truth.
#[derive(Debug, Serialize)]
pub struct ExplainedTest<'e> {
    /// The truth of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TruthValue>,
    /// The test as an expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// The cause, if the test is undetermined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The attribute's path.
    pub attribute: String,
    /// The operator's name.
    pub operator: &'static str,
    /// The right side of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json<'e>>,
    /// The truth for an absent attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_missing: Option<bool>,
    /// The attribute's value, or its beginning as text if it is long; `None` if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Json<'e>>,
}

/// An `ANY` or `ALL` node and its truth.
#[derive(Debug, Serialize)]
pub struct ExplainedItems<'e> {
    /// The truth for the whole list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TruthValue>,
    /// The node as an expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// The cause, if the node is undetermined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The attribute's path.
    pub attribute: String,
    /// The truth for an absent attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_missing: Option<bool>,
    /// The attribute's value, or its beginning as text if it is long; `None` if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Json<'e>>,
    /// The first item that decides, which `child` is about: a true one of a true `ANY`, a false one of a false `ALL`, else an
    /// undetermined one. `None` if no item decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Json<'e>>,
    /// The condition on an item.
    pub child: Box<ExplainedNode<'e>>,
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
    /// True if this decided the check.
    pub decides: bool,
}

/// An attribute that a condition reads.
#[derive(Debug, Serialize)]
pub struct ExplainedAttribute<'e> {
    /// The attribute's path.
    pub attribute: String,
    /// The name of the attribute in the namespace `relation`, if it is one.
    #[serde(skip)]
    pub relation: Option<&'e str>,
    /// The source of the value: `request`, `token`, `directory`, `relations` or `resolver:<namespace>`.
    pub source: Cow<'static, str>,
    /// Whether the request sent a value, or one of a reference that leads to it, that does not count, because the type declares
    /// another source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overridden: bool,
    /// The value; `None` if it is absent or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json<'e>>,
    /// The references that lead to the value in the directory, the first one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<ExplainedReference>,
    /// The cause, if a resolver gave no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A reference that was followed to another entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedReference {
    /// The attribute's path.
    pub attribute: String,
    /// The value: the id of the entity.
    pub value: String,
    /// The entity: `<type>:<id>`.
    pub entity: String,
}

/// The smallest changes of a denied request by which it is allowed (`docs/semantics.md`, section 2.14).
#[derive(Clone, Debug)]
pub struct Counterfactuals {
    /// Sets of changes, smallest first. None has the attributes of another one and more.
    pub sets: Vec<ChangeSet>,
    /// Whether no other set of so few changes allows.
    pub is_complete: bool,
}

/// Changes that allow together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeSet {
    /// At most three, each of another attribute.
    pub changes: Vec<AttributeChange>,
}

/// The change of one attribute of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeChange {
    /// The attribute's path.
    pub attribute: String,
    /// The value that the check was decided with; `None` if it was absent.
    pub from: Option<Json<'static>>,
    /// The value to send; `None` leaves it out.
    pub to: Option<Json<'static>>,
}
