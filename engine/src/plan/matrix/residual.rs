//! The outcome of a cell, and the part of a plan that decides it once the unknown attributes are known.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::condition::Condition;
use crate::expression;
use crate::policy::PlannedPolicy;
use crate::rbac::Effect;

/// The decision on every request that fits a cell.
#[derive(Clone, Debug)]
pub enum Outcome<'p> {
    /// Each is allowed.
    Allow,
    /// Each is denied.
    Deny,
    /// The unknown attributes decide.
    Depends(Arc<Residual<'p>>),
}

impl From<Effect> for Outcome<'_> {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}

/// The policies that can change the decision on a cell, and what each depends on.
#[derive(Debug)]
pub struct Residual<'p> {
    policies: Box<[&'p PlannedPolicy]>,
    /// `None` beyond the limit of their size.
    conditions: Option<Box<[Condition]>>,
    otherwise: Effect,
    /// Written when it is first read.
    text: OnceLock<Option<Box<str>>>,
}

/// A policy of a residual, with its residual condition.
#[derive(Clone, Copy, Debug)]
pub struct OpenPolicy<'r> {
    /// The policy.
    pub policy: &'r PlannedPolicy,
    /// The rest of its condition.
    pub condition: &'r Condition,
}

/// The conditions of policies that follow each other and have one effect, by their texts.
type Group<'r> = (Effect, BTreeMap<String, &'r Condition>);

impl<'p> Residual<'p> {
    pub(in crate::plan) fn new(
        policies: Box<[&'p PlannedPolicy]>,
        conditions: Option<Vec<Condition>>,
        otherwise: Effect,
    ) -> Self {
        let conditions = conditions.map(Into::into);
        Self { policies, conditions, otherwise, text: OnceLock::new() }
    }

    /// Replaces each condition that is shown.
    pub(in crate::plan) fn map_conditions(&mut self, replace: impl Fn(Condition) -> Condition) {
        let conditions = self.conditions.take();
        self.conditions = conditions.map(|all| all.into_iter().map(replace).collect());
        // A text that is there was written from the conditions before.
        self.text = OnceLock::new();
    }

    /// Returns the residual conditions; none if they are too large to be shown.
    pub(in crate::plan) fn conditions(&self) -> &[Condition] {
        self.conditions.as_deref().unwrap_or_default()
    }

    /// Returns the policies that can change the decision, in the order in which they decide.
    pub fn policies(&self) -> &[&'p PlannedPolicy] {
        &self.policies
    }

    /// Returns each policy with its residual condition, in the order in which they decide: the first that applies decides
    /// the cell. `None` if the conditions are too large to be shown.
    pub fn open_policies(&self) -> Option<impl Iterator<Item = OpenPolicy<'_>>> {
        let conditions = self.conditions.as_ref()?;
        let pairs = self.policies.iter().zip(conditions);
        Some(pairs.map(|(policy, condition)| OpenPolicy { policy, condition }))
    }

    /// Returns the decision if none of the policies applies.
    pub fn otherwise(&self) -> Effect {
        self.otherwise
    }

    /// Returns the condition under which a request of the cell is allowed, as text: `<allows> unless <denies>`. `None` if
    /// it is too large to be shown. Equal texts mean equal decisions.
    pub fn text(&self) -> Option<&str> {
        self.text.get_or_init(|| self.write().map(Into::into)).as_deref()
    }

    fn write(&self) -> Option<String> {
        let mut rest = Rest::Always(self.otherwise);
        // From the last group on: each is put before the text of those after it.
        for (effect, conditions) in self.groups()?.into_iter().rev() {
            rest = rest.after(effect, &any_of(conditions));
        }
        Some(rest.into_text())
    }

    /// Returns the conditions in the order in which they decide. The order inside a group does not matter.
    fn groups(&self) -> Option<Vec<Group<'_>>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for OpenPolicy { policy, condition } in self.open_policies()? {
            let text = expression::print(condition);
            match groups.last_mut() {
                Some((effect, texts)) if *effect == policy.effect => {
                    texts.insert(text, condition);
                }
                // Sorted by text, so that groups with the same conditions have the same text.
                _ => groups.push((policy.effect, BTreeMap::from([(text, condition)]))),
            }
        }
        Some(groups)
    }
}

/// Returns the expression that is true if one of the conditions is.
fn any_of(conditions: BTreeMap<String, &Condition>) -> String {
    if conditions.len() > 1 {
        let all = conditions.into_values().cloned().collect();
        return expression::print(&Condition::Or(all));
    }
    // One text at most.
    conditions.into_keys().collect()
}

/// The text of the policies that come after a group.
enum Rest {
    /// No policy is left: this is the decision.
    Always(Effect),
    /// An expression alone.
    Expression(String),
    /// An expression with `unless` or `or`.
    Combined(String),
}

impl Rest {
    /// Puts a group of policies before these.
    fn after(self, effect: Effect, conditions: &str) -> Self {
        match (effect, self) {
            (Effect::Allow, Self::Always(_)) => Self::Expression(conditions.to_owned()),
            (Effect::Allow, rest) => {
                Self::Combined(format!("{conditions}, or ({})", rest.into_text()))
            }
            (Effect::Deny, Self::Always(_)) => Self::Combined(format!("unless {conditions}")),
            (Effect::Deny, Self::Expression(rest)) => {
                Self::Combined(format!("{rest} unless {conditions}"))
            }
            (Effect::Deny, Self::Combined(rest)) => {
                Self::Combined(format!("({rest}) unless {conditions}"))
            }
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Always(effect) => effect.to_string(),
            Self::Expression(text) | Self::Combined(text) => text,
        }
    }
}
