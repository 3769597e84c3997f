//! The values of a search: those of the known part, and those of a candidate.

use uuid::Uuid;

use super::candidate::SearchCandidate;
use super::input::{SearchInput, Searched};
use crate::condition::{AttributePath, RequestField};
use crate::entities::USER;
use crate::plan::Plan;
use crate::plan::slots::{Slot, SlotValue, Symbol, Values};
use crate::rbac::Effect;
use crate::request::Check;
use crate::resolution::AttributeAnswers;
use crate::value::{AttributeValue, List};

/// The effect and the id of the rule that decides.
pub(super) type MatchedRuleId = (Effect, Uuid);

/// The known part of a search.
pub(super) struct Known<'p, 'c> {
    plan: &'p Plan,
    input: SearchInput<'c>,
    /// The values of the check, without `request.time`.
    values: Vec<SlotValue<'c>>,
    /// The slots of the searched part.
    slots: Vec<(Slot, Part)>,
    /// The searched attributes that the request says are absent. What is stored does not replace them.
    absent: Vec<Slot>,
    time: Option<Slot>,
    /// The deciding rule, if it is the same for every candidate.
    rule: Option<Option<MatchedRuleId>>,
    /// A value of at most this many steps fits into a run, however often the run reads it.
    max_steps: usize,
}

/// A searched attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The id of a resource, or the subject.
    Id,
    /// The roles of a subject.
    Roles,
    /// A property.
    Property,
}

/// A part of a search, in its relation to the policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotState {
    Known,
    Searched(Part),
    /// A resolver's.
    Open,
}

impl<'p, 'c> Known<'p, 'c> {
    pub(super) fn new(plan: &'p Plan, input: SearchInput<'c>) -> Self {
        let mut values = Values::new();
        let slots = &plan.whole().slots;
        slots.read(input.check, AttributeAnswers::none(), "", &mut values);
        let is_sent = |path: &AttributePath| match path {
            AttributePath::User(name) => input.check.attributes.user.has(name),
            AttributePath::Resource(name) => input.check.attributes.resource.has(name),
            _ => false,
        };
        let searched = (0..).zip(slots.paths()).filter_map(|(slot, path)| {
            let part = part(path, input.searched)?;
            let is_open = part != Part::Property || input.overrides || !is_sent(path);
            is_open.then_some((slot, part))
        });
        let searched = searched.collect();
        let absent = (0..).zip(slots.paths()).filter_map(|(slot, path)| {
            let is_property = part(path, input.searched)? == Part::Property;
            let is_null = is_sent(path) && values[slot as usize].value.is_none();
            (is_property && is_null).then_some(slot)
        });
        let absent = absent.collect();
        let time = (0..).zip(slots.paths()).find_map(|(slot, path)| {
            matches!(path, AttributePath::Request(RequestField::Time)).then_some(slot)
        });
        let rule = (input.searched == Searched::Resource).then(|| rule(plan, input.check));
        let max_steps = plan.whole().max_steps_of_value();
        let values = values.to_vec();
        Self { plan, input, values, slots: searched, absent, time, rule, max_steps }
    }

    /// Returns whether the ids of a type are what the searched part of a request names.
    pub(super) fn names_ids_of(&self, entity_type: &str) -> bool {
        self.input.searched == Searched::Resource || entity_type == USER
    }

    /// Returns the state of a slot.
    pub(super) fn state(&self, slot: Slot) -> SlotState {
        let searched = self.slots.iter().find(|(own, _)| *own == slot);
        match searched {
            Some((_, part)) => SlotState::Searched(*part),
            None if self.plan.whole().slots.is_resolved(slot) => SlotState::Open,
            None => SlotState::Known,
        }
    }

    /// Returns the value of a searched slot for a candidate without the property.
    pub(super) fn without_property(&self, slot: Slot) -> Option<AttributeValue<'c>> {
        self.values[slot as usize].value
    }

    /// Returns the rule that decides about a candidate if no policy does.
    pub(super) fn rule(&self, candidate: &SearchCandidate<'_>) -> Option<MatchedRuleId> {
        self.rule.unwrap_or_else(|| {
            let check =
                Check { subject: candidate.id, roles: candidate.roles, ..*self.input.check };
            rule(self.plan, &check)
        })
    }

    /// Returns whether some candidate may be allowed by a rule.
    pub(super) fn rules_may_allow(&self) -> bool {
        match self.rule {
            Some(rule) => matches!(rule, Some((Effect::Allow, _))),
            None => !self.plan.rules.is_empty(),
        }
    }

    /// Fills in the values of the check.
    pub(super) fn fill<'v>(&self, now: &'v str, values: &mut Values<'v>)
    where
        'c: 'v,
    {
        values.clear();
        values.extend_from_slice(&self.values);
        if let Some(time) = self.time {
            let value = Some(AttributeValue::Text(now));
            values[time as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
        }
    }

    /// Marks the values of the searched part: each can be anything.
    pub(super) fn forget_searched(&self, values: &mut Values<'_>) {
        for (slot, _) in &self.slots {
            let unknown = Some(AttributeValue::NotRequested);
            values[*slot as usize] = SlotValue { value: unknown, symbol: Symbol::NO_TEXT };
        }
    }

    /// Fills in the values of the check and those of a candidate. Returns whether a run can afford all of them.
    pub(super) fn fill_candidate<'v>(
        &self,
        now: &'v str,
        candidate: &'v SearchCandidate<'v>,
        values: &mut Values<'v>,
    ) -> bool
    where
        'c: 'v,
    {
        self.fill(now, values);
        let slots = &self.plan.whole().slots;
        let subject = self.input.searched == Searched::Subject;
        slots.read_entity(subject, candidate.fallback, values, false);
        for slot in &self.absent {
            values[*slot as usize] = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        }
        if self.input.overrides {
            for attributes in candidate.overriding {
                slots.read_entity(subject, attributes, values, true);
            }
        }
        for (slot, part) in &self.slots {
            let value = match part {
                Part::Id => AttributeValue::Text(candidate.id),
                Part::Roles => AttributeValue::List(List::Roles(&candidate.roles)),
                Part::Property => continue,
            };
            values[*slot as usize] = SlotValue { value: Some(value), symbol: Symbol::NO_TEXT };
        }
        slots.look_up_symbols(values);
        let mut searched = self.slots.iter().map(|(slot, _)| values[*slot as usize].value);
        searched.all(|value| self.is_short(value)) && self.plan.whole().program.affords(values)
    }

    /// Returns whether a run of all policies can afford these values.
    pub(super) fn is_affordable(&self, values: &Values<'_>) -> bool {
        values.iter().all(|value| self.is_short(value.value))
            && self.plan.whole().program.affords(values)
    }

    fn is_short(&self, value: Option<AttributeValue<'_>>) -> bool {
        match value {
            Some(AttributeValue::Text(text)) => text.len() / 16 <= self.max_steps,
            Some(AttributeValue::List(list)) => list.visited() <= self.max_steps,
            _ => true,
        }
    }
}

/// Returns the part of a candidate that a path reads.
fn part(path: &AttributePath, searched: Searched) -> Option<Part> {
    match (path, searched) {
        (AttributePath::Resource(name), Searched::Resource) if **name == *"id" => Some(Part::Id),
        // The known part of the request names the type.
        (AttributePath::Resource(name), _) if **name == *"type" => None,
        (AttributePath::Request(RequestField::Subject), Searched::Subject) => Some(Part::Id),
        (AttributePath::Request(RequestField::Roles), Searched::Subject) => Some(Part::Roles),
        (AttributePath::Resource(_), Searched::Resource)
        | (AttributePath::User(_), Searched::Subject) => Some(Part::Property),
        _ => None,
    }
}

fn rule(plan: &Plan, check: &Check<'_>) -> Option<MatchedRuleId> {
    plan.rules.decide(check, &plan.resource).map(|rule| (rule.effect, rule.id))
}
