//! The values of a search: of the known part, and of a candidate.

use uuid::Uuid;

use super::input::{SearchCandidate, SearchInput, Searched};
use crate::attributes::AttributeMap;
use crate::condition::{AttributePath, RequestField};
use crate::entities::{EntityTable, USER};
use crate::layers::Layers;
use crate::plan::Plan;
use crate::plan::made_texts::{MadeTexts, NO_TEXTS};
use crate::plan::slots::{Slot, SlotValue, Symbol, Values};
use crate::property_sources::{RelatedName, TypeSources};
use crate::rbac::Effect;
use crate::request::Check;
use crate::resolution::AttributeAnswers;
use crate::tenant_facts::{Precedence, TenantFacts};
use crate::types::PropertySource;
use crate::value::{AttributeValue, List};

/// The effect and the id of the rule that decides.
pub(super) type MatchedRuleId = (Effect, Uuid);

/// The known part of a search.
pub(super) struct Known<'p, 'c> {
    plan: &'p Plan,
    input: SearchInput<'c>,
    /// The values of the check, without those that are made texts.
    values: Vec<SlotValue<'c>>,
    /// The slots of the searched part.
    slots: Vec<(Slot, SearchedPart)>,
    /// The searched attributes behind references.
    related: Vec<(Slot, RelatedName<'p, 'p>)>,
    /// The searched attributes that the request says are absent. What is stored does not replace them.
    absent: Vec<Slot>,
    /// The searched attributes that are taken from one place alone.
    declared: Vec<(Slot, PropertySource)>,
    /// The declared sources of the searched part.
    sources: TypeSources<'p>,
    precedence: Precedence,
    /// The slots of made texts.
    made: Vec<(RequestField, Slot)>,
    /// The deciding rule, if it is the same for every candidate.
    rule: Option<Option<MatchedRuleId>>,
    /// A value of at most this many steps fits into a run, however often the run reads it.
    max_steps: usize,
    /// A list of at most this many items does.
    max_items: usize,
}

/// A searched attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchedPart {
    /// The id of a resource, or the subject.
    Id,
    /// The roles of a subject.
    Roles,
    /// A property.
    Property,
    /// A property that a candidate may have, and never from the directory.
    Unstored,
    /// A property of an entity to which a reference of the candidate leads.
    Related,
}

/// A part of a search, in its relation to the policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotState {
    Known,
    Searched(SearchedPart),
    /// A resolver's, or one that the directory does not have.
    Open,
}

impl<'p, 'c> Known<'p, 'c> {
    pub(super) fn new(plan: &'p Plan, input: SearchInput<'c>) -> Self {
        let mut values = Values::new();
        let slots = &plan.whole().slots;
        slots.read(input.check, AttributeAnswers::none(), &NO_TEXTS, &mut values);
        let facts = plan.facts();
        let precedence = facts.and_then(|facts| facts.directory).unwrap_or_default();
        let sources = facts.map(|facts| sources(facts, &input)).unwrap_or_default();
        let declared = declared(plan, &input, sources);
        // What the request sends does not count for an attribute that is taken from another place.
        for (slot, source) in &declared {
            if *source != PropertySource::Request {
                values[*slot as usize] = SlotValue { value: None, symbol: Symbol::NO_TEXT };
            }
        }
        let is_replaced = input.is_given || precedence == Precedence::Directory;
        let searched = (0..).zip(slots.paths()).filter_map(|(slot, path)| {
            let part = part(path, (input.searched, sources))?;
            let part = match (part, source_of(&declared, slot)) {
                (SearchedPart::Property, Some(PropertySource::Directory)) => {
                    return Some((slot, part));
                }
                (SearchedPart::Property, Some(PropertySource::Token)) => {
                    return Some((slot, SearchedPart::Unstored));
                }
                (SearchedPart::Property, Some(PropertySource::Request)) => {
                    return input.is_given.then_some((slot, SearchedPart::Unstored));
                }
                (part, _) => part,
            };
            // A property that the request sends is the same for all candidates, unless something of a candidate replaces it.
            let is_open =
                part != SearchedPart::Property || is_replaced || !is_sent(input.check, path);
            is_open.then_some((slot, part))
        });
        let searched: Vec<(Slot, SearchedPart)> = searched.collect();
        let related = searched.iter().filter_map(|(slot, part)| {
            let (_, name) = slots.path(*slot).sent().filter(|_| *part == SearchedPart::Related)?;
            Some((*slot, sources.related(name)?))
        });
        let related = related.collect();
        let absent = (0..).zip(slots.paths()).filter_map(|(slot, path)| {
            let is_property = part(path, (input.searched, sources))? == SearchedPart::Property;
            // Only `null` is sent and has no value.
            let is_null = is_sent(input.check, path) && values[slot as usize].value.is_none();
            (is_property && is_null).then_some(slot)
        });
        let absent = absent.collect();
        let made = (0..).zip(slots.paths()).filter_map(|(slot, path)| match path {
            AttributePath::Request(field @ (RequestField::Time | RequestField::Action)) => {
                Some((*field, slot))
            }
            _ => None,
        });
        let made = made.collect();
        // Here the subject and the roles are known, and resources differ in attributes that no rule reads.
        let rule = (input.searched == Searched::Resource).then(|| rule(plan, input.check));
        let max_steps = plan.whole().max_steps_of_value();
        let max_items = plan.whole().program.max_items_of_list(max_steps);
        let values = values.to_vec();
        let slots = searched;
        Self {
            plan,
            input,
            values,
            slots,
            related,
            absent,
            declared,
            sources,
            precedence,
            made,
            rule,
            max_steps,
            max_items,
        }
    }

    /// Returns whether the ids of a type are what the searched part of a request names.
    pub(super) fn names_ids_of(&self, entity_type: &str) -> bool {
        self.input.searched == Searched::Resource || entity_type == USER
    }

    /// Returns the state of a slot.
    pub(super) fn state(&self, slot: Slot) -> SlotState {
        let searched = self.slots.iter().find(|(own, _)| *own == slot);
        match searched {
            // No index of the directory narrows by it.
            Some((_, SearchedPart::Unstored)) => SlotState::Open,
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

    /// Returns the rule that decides if no policy does, if it and all values are the same for each candidate.
    pub(super) fn rule_of_each(&self) -> Option<Option<MatchedRuleId>> {
        self.rule.filter(|_| self.slots.is_empty() && !self.input.is_given)
    }

    /// Returns whether some candidate may be allowed by a rule.
    pub(super) fn rules_may_allow(&self) -> bool {
        match self.rule {
            Some(rule) => matches!(rule, Some((Effect::Allow, _))),
            None => !self.plan.rules.is_empty(),
        }
    }

    /// Fills in the values of the check.
    pub(super) fn fill<'v>(&self, texts: &'v MadeTexts, values: &mut Values<'v>)
    where
        'c: 'v,
    {
        values.clear();
        values.extend_from_slice(&self.values);
        for (field, slot) in &self.made {
            let text = match field {
                RequestField::Time => texts.time(),
                _ => texts.action(self.input.check),
            };
            let value = Some(AttributeValue::Text(text));
            values[*slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
        }
    }

    /// Marks the values of the searched part: each can be anything.
    pub(super) fn forget_searched(&self, values: &mut Values<'_>) {
        for (slot, _) in &self.slots {
            let unknown = Some(AttributeValue::NotRequested);
            values[*slot as usize] = SlotValue { value: unknown, symbol: Symbol::NO_TEXT };
        }
    }

    /// Fills in the values of the check and of a candidate. Returns whether a run can afford all of them.
    pub(super) fn fill_candidate<'v>(
        &self,
        texts: &'v MadeTexts,
        candidate: &'v SearchCandidate<'v>,
        values: &mut Values<'v>,
    ) -> bool
    where
        'c: 'v,
        'p: 'v,
    {
        self.fill(texts, values);
        let slots = &self.plan.whole().slots;
        let subject = self.input.searched == Searched::Subject;
        let wins = self.precedence == Precedence::Directory;
        if !wins {
            // The request goes before the directory, which fills in what is absent.
            slots.read_entity(subject, candidate.stored.named(), values, false);
        }
        // Each step replaces what those before filled in: what goes first comes last.
        for slot in &self.absent {
            values[*slot as usize] = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        }
        if self.input.is_given {
            slots.read_entity(subject, candidate.given.named(), values, true);
        }
        if wins {
            slots.read_entity(subject, candidate.stored.named(), values, true);
        }
        for (slot, source) in &self.declared {
            let value = self.declared_value(*slot, *source, candidate);
            values[*slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
        }
        for (slot, part) in &self.slots {
            let value = match part {
                SearchedPart::Id => AttributeValue::Text(candidate.id),
                SearchedPart::Roles => AttributeValue::List(List::Roles(&candidate.roles)),
                SearchedPart::Related | SearchedPart::Property | SearchedPart::Unstored => continue,
            };
            values[*slot as usize] = SlotValue { value: Some(value), symbol: Symbol::NO_TEXT };
        }
        let layers = CandidateLayers { known: self, candidate, shared: self.shared() };
        for (slot, related) in &self.related {
            let (_, value) = layers.settled_part(&related.references, &related.end);
            values[*slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
        }
        slots.look_up_symbols(values);
        let mut searched = self.slots.iter().map(|(slot, _)| values[*slot as usize].value);
        searched.all(|value| self.is_short(value)) && self.plan.whole().program.affords(values)
    }

    /// Returns the value that an attribute has for a candidate by its declared source.
    fn declared_value<'v>(
        &self,
        slot: Slot,
        source: PropertySource,
        candidate: &'v SearchCandidate<'v>,
    ) -> Option<AttributeValue<'v>>
    where
        'c: 'v,
    {
        let path = self.plan.whole().slots.path(slot);
        let (AttributePath::User(name) | AttributePath::Resource(name)) = path else { return None };
        match source {
            PropertySource::Directory => candidate.stored.get(name),
            PropertySource::Token => candidate.claims?.claim(name).map(AttributeValue::from),
            PropertySource::Request if self.input.is_given && candidate.given.has(name) => {
                candidate.given.get(name)
            }
            PropertySource::Request => self.values[slot as usize].value,
        }
    }

    /// Returns the searched attributes that the request sends for all candidates.
    fn shared(&self) -> AttributeMap<'c> {
        let attributes = self.input.check.attributes;
        match self.input.searched {
            Searched::Subject => attributes.user,
            Searched::Resource => attributes.resource,
        }
    }

    /// Returns the way to an attribute behind references, where each candidate of the directory has what the directory says;
    /// `None` if the request sends a part of the way.
    pub(super) fn way_to(&self, slot: Slot) -> Option<Way<'_>> {
        let (_, mut name) = self.plan.whole().slots.path(slot).sent()?;
        let shared = self.shared();
        let mut steps = Vec::new();
        while !shared.has(name)
            && self.sources.get(name).is_none_or(|source| source == PropertySource::Directory)
        {
            match self.sources.related(name) {
                Some(related) if related.end.is_stored() => {
                    let reference = related.reference();
                    steps.push((reference.to, related.end.property));
                    name = reference.name;
                }
                Some(_) => return None,
                None => return Some(Way { property: name, steps }),
            }
        }
        None
    }

    /// Returns whether a run of all policies can afford these values.
    pub(super) fn is_affordable(&self, values: &Values<'_>) -> bool {
        values.iter().all(|value| self.is_short(value.value))
            && self.plan.whole().program.affords(values)
    }

    fn is_short(&self, value: Option<AttributeValue<'_>>) -> bool {
        match value {
            // As operators count them: 16 bytes of a text are one step.
            Some(AttributeValue::Text(text)) => text.len() / 16 <= self.max_steps,
            Some(AttributeValue::List(list)) => list.visited() <= self.max_items,
            _ => true,
        }
    }
}

/// Returns whether the check has an attribute of the user or the resource, `null` included.
fn is_sent(check: &Check<'_>, path: &AttributePath) -> bool {
    match path {
        AttributePath::User(name) => check.attributes.user.has(name),
        AttributePath::Resource(name) => check.attributes.resource.has(name),
        _ => false,
    }
}

/// The way to an attribute behind references.
pub(super) struct Way<'w> {
    /// The reference that is a property of the candidate.
    pub(super) property: &'w str,
    /// The types that the references lead to, each with the property there, the last one first.
    pub(super) steps: Vec<(&'w str, &'w str)>,
}

/// The attributes of the searched part, as a check of a candidate has them.
struct CandidateLayers<'l, 'p, 'v, 'c> {
    known: &'l Known<'p, 'c>,
    candidate: &'v SearchCandidate<'v>,
    /// The attributes that the request sends for all candidates.
    shared: AttributeMap<'c>,
}

impl<'v, 'p: 'v, 'c: 'v> Layers<'v> for CandidateLayers<'_, 'p, 'v, 'c> {
    fn sources(&self) -> TypeSources<'v> {
        self.known.sources
    }

    fn precedence(&self) -> Precedence {
        self.known.precedence
    }

    fn directory(&self) -> Option<&'v EntityTable> {
        self.known.input.entities
    }

    fn own(&self, name: &str) -> Option<AttributeValue<'v>> {
        self.candidate.stored.get(name)
    }

    fn claim(&self, name: &str) -> Option<AttributeValue<'v>> {
        self.candidate.claims?.claim(name).map(AttributeValue::from)
    }

    fn sent(&self, name: &str) -> Option<Option<AttributeValue<'v>>> {
        let given = self.known.input.is_given.then(|| self.candidate.given.find(name));
        given.flatten().or_else(|| self.shared.find(name))
    }
}

/// Returns the declared sources of the searched part.
fn sources<'p>(facts: &'p TenantFacts, input: &SearchInput<'_>) -> TypeSources<'p> {
    match input.searched {
        Searched::Subject => facts.sources.for_user(),
        Searched::Resource => facts.sources_of(input.check),
    }
}

/// Returns the searched attributes that are taken from one place alone.
fn declared(
    plan: &Plan,
    input: &SearchInput<'_>,
    sources: TypeSources<'_>,
) -> Vec<(Slot, PropertySource)> {
    if sources.is_empty() {
        return Vec::new();
    }
    let paths = (0..).zip(plan.whole().slots.paths());
    let declared = paths.filter_map(|(slot, path)| {
        let (AttributePath::User(name) | AttributePath::Resource(name)) = path else { return None };
        let is_property = part(path, (input.searched, sources))? == SearchedPart::Property;
        Some((slot, sources.get(name).filter(|_| is_property)?))
    });
    declared.collect()
}

fn source_of(declared: &[(Slot, PropertySource)], slot: Slot) -> Option<PropertySource> {
    declared.iter().find(|(own, _)| *own == slot).map(|(_, source)| *source)
}

/// Returns the part of a candidate that a path reads.
fn part(
    path: &AttributePath,
    (searched, sources): (Searched, TypeSources<'_>),
) -> Option<SearchedPart> {
    match (path, searched) {
        (AttributePath::Resource(name), Searched::Resource) if **name == *"id" => {
            Some(SearchedPart::Id)
        }
        // The known part of the request names the type.
        (AttributePath::Resource(name), _) if **name == *"type" => None,
        (AttributePath::Request(RequestField::Subject), Searched::Subject) => {
            Some(SearchedPart::Id)
        }
        (AttributePath::Request(RequestField::Roles), Searched::Subject) => {
            Some(SearchedPart::Roles)
        }
        (AttributePath::Resource(name), Searched::Resource)
        | (AttributePath::User(name), Searched::Subject) => {
            Some(if sources.related(name).is_some() {
                SearchedPart::Related
            } else {
                SearchedPart::Property
            })
        }
        _ => None,
    }
}

fn rule(plan: &Plan, check: &Check<'_>) -> Option<MatchedRuleId> {
    plan.rules.decide(check, &plan.resource).map(|rule| (rule.effect, rule.id))
}
