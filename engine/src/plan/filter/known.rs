//! The values of known attributes that conditions name.

use std::collections::BTreeMap;

use crate::condition::{AttributePath, Condition};
use crate::json::Json;
use crate::plan::slots::SlotValue;
use crate::value::AttributeValue;

/// Known attributes by path. `None` is absent; a value that no operator compares is `null`.
#[derive(Clone, Debug, Default)]
pub struct KnownValues(BTreeMap<String, Option<Json<'static>>>);

impl KnownValues {
    /// Collects the values of all attributes that were requested.
    pub(super) fn new<'v>(
        values: impl Iterator<Item = (&'v AttributePath, &'v SlotValue<'v>)>,
    ) -> Self {
        let known = values.filter_map(|(path, value)| match value.value {
            Some(AttributeValue::NotRequested) => None,
            value => Some((path.to_string(), value.map(|value| value.to_json().into_owned()))),
        });
        Self(known.collect())
    }

    /// Keeps the attributes that the conditions name.
    pub(super) fn named_in(mut self, conditions: &[Condition]) -> Self {
        let named: std::collections::HashSet<String> =
            conditions.iter().flat_map(paths).map(AttributePath::to_string).collect();
        self.0.retain(|path, _| named.contains(path));
        self
    }

    /// Returns the value of a known attribute: `Some(None)` is absent, `None` is unknown.
    pub fn get(&self, path: &AttributePath) -> Option<Option<&Json<'static>>> {
        self.0.get(&path.to_string()).map(Option::as_ref)
    }

    /// Returns each path with its value, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&Json<'static>>)> {
        self.0.iter().map(|(path, value)| (path.as_str(), value.as_ref()))
    }
}

/// Returns every attribute that a condition names.
pub(super) fn paths(condition: &Condition) -> Vec<&AttributePath> {
    condition.reads()
}
