//! Objects as bundles write them: for the fields of a plan and for the export.

use std::collections::HashMap;

use portcullis_bundle::Form;
use portcullis_model::apply::FieldChange;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The members of an object, each as compact JSON. A member that has its default is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content(Vec<(&'static str, String)>);

impl Content {
    /// Returns the members of a record in this form.
    pub(super) fn new(record: &impl Serialize, form: Form) -> Self {
        // Records as they are stored: there is nothing that could not be written or read again.
        let text = serde_json::to_string(record).unwrap_or_default();
        let all: HashMap<&str, &RawValue> = serde_json::from_str(&text).unwrap_or_default();
        let members = form.members(|name| all.get(name), |value, text| value.get() == text);
        Self(members.map(|(name, value)| (name, value.get().to_owned())).collect())
    }

    /// Adds a member.
    pub(super) fn with(mut self, name: &'static str, value: &impl Serialize) -> Self {
        // Texts, numbers, lists and maps of them: there is nothing that could not be written.
        self.0.push((name, serde_json::to_string(value).unwrap_or_default()));
        self
    }

    /// Removes the members with these names.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(name));
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, text)| &**text)
    }

    /// Returns the members that differ, in the order of `self`, and then those that only `after` has.
    pub(super) fn changes(&self, after: &Self) -> Vec<FieldChange> {
        let new = after.0.iter().filter(|(name, _)| self.get(name).is_none());
        let names = self.0.iter().chain(new).map(|(name, _)| name);
        let changes = names.filter_map(|name| {
            let (before, after) = (self.get(name), after.get(name));
            (before != after).then(|| FieldChange::new(format!("/{name}"), before, after))
        });
        changes.collect()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, text) in &self.0 {
            let raw: &RawValue = serde_json::from_str(text).map_err(serde::ser::Error::custom)?;
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}
