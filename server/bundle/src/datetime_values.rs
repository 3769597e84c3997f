//! Attributes whose values in cases and entities are date-times.

use std::collections::{BTreeMap, HashMap};

use portcullis_engine::condition::AttributePath;
use portcullis_engine::resource::split_resource;
use portcullis_engine::types::{ACTION, CONTEXT, PropertyType, Types, USER};
use portcullis_engine::{Json, ResourcePattern, json};

use portcullis_model::entity::NewEntity;
use portcullis_model::policy::CompiledRuleData;
use portcullis_model::warning::Warning;

use crate::cases::Case;

/// The namespace of the attributes of resources.
const RESOURCE: &str = "resource";

/// The properties that have texts in cases and entities, by type and name, each with whether all of them are date-times.
#[derive(Debug, Default)]
pub struct DatetimeValues(HashMap<String, HashMap<String, bool>>);

impl DatetimeValues {
    /// Returns the attributes of cases and the properties of entities.
    pub fn new<'a>(
        cases: impl IntoIterator<Item = &'a Case>,
        entities: impl IntoIterator<Item = &'a NewEntity>,
    ) -> Self {
        let mut values = Self::default();
        cases.into_iter().for_each(|case| values.note_check(&case.check));
        for entity in entities {
            values.note_entity(&entity.kind, &entity.properties);
        }
        values
    }

    /// Returns the attributes of stored cases, a JSON list.
    pub fn of_stored_cases(cases: &str) -> Self {
        let mut values = Self::default();
        let parsed = json::parse(cases.as_bytes()).unwrap_or(Json::Null);
        let checks = parsed.as_array().unwrap_or_default().iter().filter_map(|it| it.get("check"));
        checks.for_each(|check| values.note_check(check));
        values
    }

    /// Adds the properties of an entity.
    pub fn note_entity(&mut self, kind: &str, properties: &BTreeMap<String, Json<'_>>) {
        properties.iter().for_each(|(name, value)| self.note(kind, name, value));
    }

    fn note_check(&mut self, check: &Json<'_>) {
        let resource = check.get("resource").and_then(Json::as_str).unwrap_or_default();
        let object = split_resource(resource).map_or("", |(object, _)| object);
        for (namespace, of) in
            [(USER, USER), (RESOURCE, object), (CONTEXT, CONTEXT), (ACTION, ACTION)]
        {
            let sent = check.get("attributes").and_then(|attributes| attributes.get(namespace));
            for (name, value) in sent.and_then(Json::as_object).unwrap_or_default() {
                self.note(of, name, value);
            }
        }
    }

    fn note(&mut self, of: &str, name: &str, value: &Json<'_>) {
        if value.as_str().is_none() {
            return;
        }
        let is_datetime = PropertyType::Datetime.admits(value);
        let known = self.0.entry(of.to_owned()).or_default();
        known.entry(name.to_owned()).and_modify(|all| *all &= is_datetime).or_insert(is_datetime);
    }

    /// Returns whether an attribute of a policy on these resources has texts, and all of them are date-times.
    pub fn has(&self, resource: &ResourcePattern, path: &AttributePath) -> bool {
        let Some((namespace, name)) = path.sent() else { return false };
        match (namespace, resource.object()) {
            (RESOURCE, Some(object)) => self.are_datetimes(object, name).unwrap_or_default(),
            (RESOURCE, None) => {
                let others =
                    self.0.keys().filter(|kind| ![USER, CONTEXT, ACTION].contains(&&***kind));
                // A policy on every resource reads the properties of every type of resource.
                let mut others =
                    others.filter_map(|kind| self.are_datetimes(kind, name)).peekable();
                others.peek().is_some() && others.all(|all| all)
            }
            _ => self.are_datetimes(namespace, name).unwrap_or_default(),
        }
    }

    /// Returns whether all texts of a property are date-times; `None` if it has none.
    fn are_datetimes(&self, kind: &str, name: &str) -> Option<bool> {
        self.0.get(kind).and_then(|names| names.get(name)).copied()
    }

    /// Returns the warnings about a condition of a policy on these resources that orders date-times as texts.
    pub fn warnings(
        &self,
        types: &Types,
        resource: &ResourcePattern,
        sent: &CompiledRuleData,
    ) -> Vec<Warning> {
        let orders =
            types.orders_as_texts(resource, &sent.condition, |path| self.has(resource, path));
        let orders = orders.into_iter().take(CompiledRuleData::MAX_WARNINGS);
        orders
            .map(|(place, test)| Warning::datetimes_as_texts(sent.place_of(place), test))
            .collect()
    }
}
