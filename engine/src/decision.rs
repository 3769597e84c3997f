//! The decision, its reason, and the one place that combines RBAC and ABAC (`docs/semantics.md`, sections 2.6 and 2.7).

use std::fmt;

use uuid::Uuid;

use crate::condition::AttributePath;
use crate::policy::PlannedPolicy;
use crate::rbac::{Effect, MatchedRule};

/// The `matched_rule_id` of a check that nothing matched.
pub const DEFAULT_DENY: &str = "default-deny";

/// The answer to a check. It borrows from the plan that gave it.
#[derive(Clone, Debug)]
pub struct Decision<'p> {
    effect: Effect,
    matched: Matched<'p>,
}

/// What decided.
#[derive(Clone, Debug)]
pub enum Matched<'p> {
    /// An ABAC policy.
    Policy {
        /// The policy.
        policy: &'p PlannedPolicy,
        /// Why its condition is undetermined; empty when it is true.
        undetermined: Vec<Undetermined<'p>>,
    },
    /// An RBAC rule.
    Rule(MatchedRule<'p>),
    /// Nothing: denied by default.
    Nothing {
        /// A policy that might allow it, if resolvers had answered what its condition needs.
        withheld: Option<Withheld<'p>>,
    },
}

/// A policy that allows nothing, since resolvers failed.
#[derive(Clone, Debug)]
pub struct Withheld<'p> {
    /// The policy.
    pub policy: &'p PlannedPolicy,
    /// Why its condition is undetermined.
    pub undetermined: Vec<Undetermined<'p>>,
}

/// Why a condition is undetermined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undetermined<'p> {
    /// The attribute is absent.
    Absent(&'p AttributePath),
    /// The attribute's resolver has no answer, because of this.
    Unresolved(&'p AttributePath, Box<str>),
    /// The operator does not compare what the attribute is with what it is compared to.
    Incomparable(&'p AttributePath, &'static str),
    /// The stored condition does not compile any more.
    Broken,
}

/// The ABAC policy that decided.
#[derive(Clone, Debug)]
pub(crate) struct Applied<'p> {
    pub(crate) policy: &'p PlannedPolicy,
    /// Empty when the condition is true.
    pub(crate) undetermined: Vec<Undetermined<'p>>,
}

/// 1. ABAC deny, 2. RBAC deny, 3. either allows (ABAC is reported first), 4. deny by default.
pub(crate) fn combine<'p>(
    abac: Option<Applied<'p>>,
    rbac: impl FnOnce() -> Option<MatchedRule<'p>>,
) -> Decision<'p> {
    let by_policy = |applied: Applied<'p>| Decision {
        effect: applied.policy.effect,
        matched: Matched::Policy { policy: applied.policy, undetermined: applied.undetermined },
    };
    let by_rule =
        |rule: MatchedRule<'p>| Decision { effect: rule.effect, matched: Matched::Rule(rule) };
    match abac {
        Some(applied) if applied.policy.effect == Effect::Deny => by_policy(applied),
        abac => match (rbac(), abac) {
            (Some(rule), _) if rule.effect == Effect::Deny => by_rule(rule),
            (_, Some(applied)) => by_policy(applied),
            (Some(rule), None) => by_rule(rule),
            (None, None) => {
                Decision { effect: Effect::Deny, matched: Matched::Nothing { withheld: None } }
            }
        },
    }
}

const NOTHING_ALLOWS: &str = "no RBAC rule and no ABAC policy allows it";

impl<'p> Decision<'p> {
    /// Has a denial by default tell what might have allowed it.
    pub(crate) fn or_withheld(mut self, find: impl FnOnce() -> Option<Withheld<'p>>) -> Self {
        if let Matched::Nothing { withheld } = &mut self.matched {
            *withheld = find();
        }
        self
    }

    /// Allow or deny.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// What decided.
    pub fn matched(&self) -> &Matched<'p> {
        &self.matched
    }

    /// The id of the policy or rule that decided; `None` when nothing matched.
    pub fn rule_id(&self) -> Option<Uuid> {
        match &self.matched {
            Matched::Policy { policy, .. } => Some(policy.id),
            Matched::Rule(rule) => Some(rule.id),
            Matched::Nothing { .. } => None,
        }
    }

    /// `matched_rule_id` on the wire: the id, or [`DEFAULT_DENY`].
    pub fn matched_rule_id(&self) -> String {
        self.rule_id().map_or_else(|| DEFAULT_DENY.to_owned(), |id| id.to_string())
    }

    /// One sentence that a person can act on.
    pub fn reason(&self) -> String {
        let verb = match self.effect {
            Effect::Allow => "allows",
            Effect::Deny => "denies",
        };
        match &self.matched {
            Matched::Policy { policy, undetermined } if undetermined.is_empty() => {
                format!("ABAC policy `{}` {verb}: its condition is true", policy.name)
            }
            Matched::Policy { policy, undetermined } => format!(
                "ABAC policy `{}` {verb}: its condition is undetermined, because {}",
                policy.name,
                Causes(undetermined)
            ),
            Matched::Rule(rule) => format!(
                "RBAC rule `{}, {}, {}, {}` {verb}",
                rule.sub,
                rule.dom,
                rule.obj(),
                rule.act
            ),
            Matched::Nothing { withheld: None } => NOTHING_ALLOWS.to_owned(),
            Matched::Nothing { withheld: Some(Withheld { policy, undetermined }) } => format!(
                "{NOTHING_ALLOWS}; the condition of ABAC policy `{}` is undetermined, because {}",
                policy.name,
                Causes(undetermined)
            ),
        }
    }
}

/// The causes that a reason spells out; a tree can have hundreds.
const SPELLED_OUT: usize = 3;

struct Causes<'c>(&'c [Undetermined<'c>]);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cause) in self.0.iter().take(SPELLED_OUT).enumerate() {
            write!(f, "{}{cause}", if index == 0 { "" } else { ", and " })?;
        }
        match self.0.len().saturating_sub(SPELLED_OUT) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl fmt::Display for Undetermined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(path) => write!(f, "attribute `{path}` is missing"),
            Self::Unresolved(path, cause) => write!(f, "attribute `{path}` is not known: {cause}"),
            Self::Incomparable(path, operator) => {
                write!(f, "attribute `{path}` is not of a type that `{operator}` compares here")
            }
            Self::Broken => f.write_str("the stored condition cannot be read"),
        }
    }
}
