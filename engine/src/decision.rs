//! The decision and its reason. This is the one place that combines RBAC and ABAC (`docs/semantics.md`, sections 2.6 and 2.7).

use std::fmt::{self, Write};

use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::condition::AttributePath;
use crate::excerpt::excerpt;
use crate::policy::PlannedPolicy;
use crate::rbac::{Effect, MatchedRule};

/// The `matched_rule_id` of a decision without a matching rule or policy.
pub const DEFAULT_DENY: &str = "default-deny";
/// Bytes of a reason for which there is room from the start: most reasons.
const TYPICAL_REASON: usize = 128;

/// The id of the policy or rule that decided, as `matched_rule_id` shows it: [`DEFAULT_DENY`] if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedRuleId(pub Option<Uuid>);

impl fmt::Display for MatchedRuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str(DEFAULT_DENY),
        }
    }
}

impl Serialize for MatchedRuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The decision on a check. Borrows from the plan.
#[derive(Clone, Debug)]
pub struct Decision<'p> {
    effect: Effect,
    matched: Matched<'p>,
}

/// The rule or policy that decided.
#[derive(Clone, Debug)]
pub enum Matched<'p> {
    /// An ABAC policy, or a rule whose subject is a relation.
    Policy(JudgedPolicy<'p>),
    /// An RBAC rule.
    Rule(MatchedRule<'p>),
    /// None: denied by default.
    Nothing {
        /// A policy that might have allowed the check if a resolver had not failed.
        withheld: Option<JudgedPolicy<'p>>,
    },
}

/// A policy that decided, or that might have.
#[derive(Clone, Debug)]
pub struct JudgedPolicy<'p> {
    /// The policy.
    pub policy: &'p PlannedPolicy,
    /// The causes of an undetermined condition; empty if the condition is true.
    pub undetermined: Vec<Undetermined<'p>>,
}

/// A cause of an undetermined condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undetermined<'p> {
    /// The attribute is absent.
    Absent(&'p AttributePath),
    /// The attribute's resolver has no answer; the text is the cause.
    Unresolved(&'p AttributePath, Box<str>),
    /// The operator does not compare the types of the attribute and the right side.
    Incomparable(&'p AttributePath, &'static str),
    /// The operator does not compare the types of an item of the attribute and the right side.
    IncomparableItem(&'p AttributePath, &'static str),
    /// The attribute is too long to be compared: by itself, or with all else that the decision compares.
    TooLong(&'p AttributePath),
    /// The pattern for the attribute is over the budget of its policy or plan.
    PatternTooLarge(&'p AttributePath),
    /// The stored condition does not compile.
    Broken,
}

/// Combines both engines: 1. ABAC deny, 2. RBAC deny, 3. ABAC allow, 4. RBAC allow, 5. deny by default. Calls `rbac`
/// only if ABAC does not deny.
pub(crate) fn combine<'p>(
    abac: Option<JudgedPolicy<'p>>,
    rbac: impl FnOnce() -> Option<MatchedRule<'p>>,
) -> Decision<'p> {
    match abac {
        Some(applied) if applied.policy.effect == Effect::Deny && !applied.policy.is_rule => {
            Decision::by_policy(applied)
        }
        // A denying rule by a relation is here, too: a rule with a smaller id is named before it.
        abac => match (rbac(), abac) {
            (Some(rule), Some(applied)) if precedes((rule.effect, rule.id), applied.policy) => {
                Decision::by_rule(rule)
            }
            (_, Some(applied)) => Decision::by_policy(applied),
            (Some(rule), None) => Decision::by_rule(rule),
            (None, None) => {
                Decision { effect: Effect::Deny, matched: Matched::Nothing { withheld: None } }
            }
        },
    }
}

/// Returns whether the rule of an effect and id decides before `other`, which is not a denying policy. Of two rules, a deny
/// does, then the smallest id.
pub(crate) fn precedes(rule: (Effect, Uuid), other: &PlannedPolicy) -> bool {
    match other.is_rule {
        true => rule < (other.effect, other.id),
        false => rule.0 == Effect::Deny,
    }
}

const NOTHING_ALLOWS: &str = "no RBAC rule and no ABAC policy allows it";

impl<'p> Decision<'p> {
    fn by_policy(applied: JudgedPolicy<'p>) -> Self {
        Self { effect: applied.policy.effect, matched: Matched::Policy(applied) }
    }

    fn by_rule(rule: MatchedRule<'p>) -> Self {
        Self { effect: rule.effect, matched: Matched::Rule(rule) }
    }

    /// Adds the policy that might have allowed the check to a denial by default.
    pub(crate) fn or_withheld(mut self, find: impl FnOnce() -> Option<JudgedPolicy<'p>>) -> Self {
        if let Matched::Nothing { withheld } = &mut self.matched {
            *withheld = find();
        }
        self
    }

    /// Returns allow or deny.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Returns the rule or policy that decided.
    pub fn matched(&self) -> &Matched<'p> {
        &self.matched
    }

    /// Returns `matched_rule_id` on the wire.
    pub fn matched_rule_id(&self) -> MatchedRuleId {
        MatchedRuleId(self.rule_id())
    }

    /// Returns the id of the policy or rule that decided; `None` for a denial by default.
    pub fn rule_id(&self) -> Option<Uuid> {
        match &self.matched {
            Matched::Policy(judged) => Some(judged.policy.id),
            Matched::Rule(rule) => Some(rule.id),
            Matched::Nothing { .. } => None,
        }
    }

    /// Returns what displays the name of the policy or the tuple of the rule that decided; [`DEFAULT_DENY`] without any.
    pub fn name(&self) -> impl fmt::Display {
        fmt::from_fn(|f| match &self.matched {
            Matched::Policy(judged) => f.write_str(&judged.policy.name),
            Matched::Rule(rule) => fmt::Display::fmt(rule, f),
            Matched::Nothing { .. } => f.write_str(DEFAULT_DENY),
        })
    }

    /// Returns the attributes because of which the condition that decided, or that might have allowed, is undetermined.
    pub fn undetermined(&self) -> impl Iterator<Item = &'p AttributePath> {
        let causes = match &self.matched {
            Matched::Policy(judged) | Matched::Nothing { withheld: Some(judged) } => {
                &*judged.undetermined
            }
            Matched::Rule(_) | Matched::Nothing { withheld: None } => &[],
        };
        causes.iter().filter_map(Undetermined::attribute)
    }

    /// Returns whether every decision with this effect by this rule or policy has the same reason.
    pub fn has_common_reason(&self) -> bool {
        match &self.matched {
            Matched::Policy(judged) => judged.undetermined.is_empty(),
            Matched::Rule(_) => true,
            Matched::Nothing { withheld } => withheld.is_none(),
        }
    }

    /// Returns the reason: one sentence that a person can act on.
    pub fn reason(&self) -> String {
        let mut reason = String::with_capacity(TYPICAL_REASON);
        // Writing to a string does not fail.
        let _ = self.write_reason(&mut reason);
        reason
    }

    /// Returns what displays the reason.
    pub fn worded(&self) -> impl fmt::Display {
        fmt::from_fn(|f| self.write_reason(f))
    }

    fn write_reason(&self, text: &mut impl Write) -> fmt::Result {
        let verb = match self.effect {
            Effect::Allow => "allows",
            Effect::Deny => "denies",
        };
        match &self.matched {
            Matched::Policy(JudgedPolicy { policy, undetermined }) => {
                let (what, part) = parts(policy);
                write!(text, "{what} `{}` {verb}", policy.name)?;
                match &**undetermined {
                    [] if policy.is_rule => Ok(()),
                    [] => write!(text, ": its {part} is true"),
                    causes => {
                        write!(text, ": its {part} is undetermined, because {}", Causes(causes))
                    }
                }
            }
            Matched::Rule(rule) => write!(text, "RBAC rule `{rule}` {verb}"),
            Matched::Nothing { withheld: None } => text.write_str(NOTHING_ALLOWS),
            Matched::Nothing { withheld: Some(JudgedPolicy { policy, undetermined }) } => {
                let (what, part) = parts(policy);
                let (name, causes) = (&policy.name, Causes(undetermined));
                write!(
                    text,
                    "{NOTHING_ALLOWS}; the {part} of {what} `{name}` is undetermined, because {causes}"
                )
            }
        }
    }
}

/// Returns the words for a policy and for what is evaluated of it.
fn parts(policy: &PlannedPolicy) -> (&'static str, &'static str) {
    match policy.is_rule {
        true => ("RBAC rule", "subject"),
        false => ("ABAC policy", "condition"),
    }
}

/// The maximum number of causes in a reason; a tree can have hundreds.
const SPELLED_OUT: usize = 3;
/// The maximum length of a cause in a reason, in bytes of JSON. Each denial keeps its reason in an event, and the path of an
/// attribute can have 256 KiB.
const MAX_CAUSE: usize = 1024;

struct Causes<'c>(&'c [Undetermined<'c>]);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cause) in self.0.iter().take(SPELLED_OUT).enumerate() {
            let cause = excerpt(cause, MAX_CAUSE);
            write!(f, "{}{cause}", if index == 0 { "" } else { ", and " })?;
        }
        match self.0.len().saturating_sub(SPELLED_OUT) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl<'p> Undetermined<'p> {
    /// Returns the attribute that causes it; `None` for a condition that cannot be read.
    pub(crate) fn attribute(&self) -> Option<&'p AttributePath> {
        match self {
            Self::Absent(path)
            | Self::Unresolved(path, _)
            | Self::Incomparable(path, _)
            | Self::IncomparableItem(path, _)
            | Self::TooLong(path)
            | Self::PatternTooLarge(path) => Some(path),
            Self::Broken => None,
        }
    }

    /// Returns the cause of an item as the cause of the list at `list`. `outer` returns the path of another attribute in the
    /// plan.
    pub(crate) fn of_item_in<'q>(
        self,
        list: &'q AttributePath,
        outer: impl Fn(&AttributePath) -> Option<&'q AttributePath>,
    ) -> Undetermined<'q> {
        // `item` is not an attribute of the plan: its list stands for it.
        let found = self.attribute().filter(|path| **path != AttributePath::Item).and_then(outer);
        let path = found.unwrap_or(list);
        match self {
            Self::Absent(_) => Undetermined::Absent(path),
            Self::Unresolved(_, cause) => Undetermined::Unresolved(path, cause),
            Self::Incomparable(_, operator) if found.is_none() => {
                Undetermined::IncomparableItem(path, operator)
            }
            Self::Incomparable(_, operator) => Undetermined::Incomparable(path, operator),
            Self::IncomparableItem(_, operator) => Undetermined::IncomparableItem(path, operator),
            Self::TooLong(_) => Undetermined::TooLong(path),
            Self::PatternTooLarge(_) => Undetermined::PatternTooLarge(path),
            Self::Broken => Undetermined::Broken,
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
            Self::IncomparableItem(path, operator) => {
                write!(
                    f,
                    "an item of attribute `{path}` is not of a type that `{operator}` compares here"
                )
            }
            Self::TooLong(path) => write!(f, "attribute `{path}` is too long to be compared"),
            Self::PatternTooLarge(path) => {
                write!(f, "the pattern for attribute `{path}` is too large")
            }
            Self::Broken => f.write_str("the stored condition cannot be read"),
        }
    }
}
