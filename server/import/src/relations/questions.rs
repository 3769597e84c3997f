//! The questions that tests ask.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use portcullis_engine::entities::USER;
use serde_json::Value;

use super::condition::{Context, instant};
use super::place::Place;
use super::tuples::{ImportedTuple, name};
use super::types::ImportedModel;

/// A test of a store, with its questions.
#[derive(Debug)]
pub(crate) struct ImportedTest {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// The tuples that the test has beside the tuples of the store.
    pub(crate) tuples: Vec<ImportedTuple>,
    pub(crate) questions: Vec<Question>,
}

/// Has the user the relation to the object?
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) place: Place,
    pub(crate) user: String,
    pub(crate) relation: String,
    pub(crate) object: String,
    /// The instant at which the test asks, if it says one.
    pub(crate) now: Option<DateTime<Utc>>,
    pub(crate) expected: bool,
}

/// Collects the questions of the tests.
pub(crate) struct Questions<'m> {
    pub(crate) model: &'m ImportedModel,
    pub(crate) tuples: &'m [ImportedTuple],
    pub(crate) faults: Vec<String>,
    /// Each part that is left out, with its place.
    pub(crate) notes: Vec<String>,
}

/// The tests with their questions, and notes about what is left out.
pub(crate) type NotedTests = (Vec<ImportedTest>, Vec<String>);

/// Returns the subjects that the tuples name one by one.
pub(crate) fn known_users<'t>(
    tuples: impl Iterator<Item = &'t ImportedTuple>,
) -> impl Iterator<Item = &'t str> {
    let direct = tuples.filter(|one| one.subject_relation.is_none()).map(|one| &*one.subject);
    direct.filter(|user| !user.ends_with(":*"))
}

impl<'m> Questions<'m> {
    /// Begins without a question.
    pub(crate) fn new(model: &'m ImportedModel, tuples: &'m [ImportedTuple]) -> Self {
        Self { model, tuples, faults: Vec::new(), notes: Vec::new() }
    }

    /// Returns the tests with the notes about what is left out.
    ///
    /// # Errors
    /// The faults.
    pub(crate) fn finish(self, tests: Vec<ImportedTest>) -> Result<NotedTests, Vec<String>> {
        if self.faults.is_empty() { Ok((tests, self.notes)) } else { Err(self.faults) }
    }

    /// Returns the instant at which a test with this context asks; `None` after a fault.
    pub(crate) fn now(
        &mut self,
        context: Option<&Context>,
        place: &Place,
    ) -> Option<Option<DateTime<Utc>>> {
        // Each condition may have another name for the time of a check.
        let names: BTreeSet<&str> = self.model.expiries.values().map(|one| &*one.now).collect();
        let given = names.iter().filter_map(|name| context?.get(*name));
        let given: Result<BTreeSet<DateTime<Utc>>, String> = given
            .map(|value| match value {
                Value::String(text) => instant(text),
                other => Err(format!("expected an instant, not `{other}`")),
            })
            .collect();
        match given.map(|given| given.into_iter().collect::<Vec<_>>()) {
            // The set has equal instants once, whatever their names are.
            Ok(given) if given.len() <= 1 => Some(given.first().copied()),
            Ok(_) => {
                self.faults.push(place.says("the test asks at two instants at once"));
                None
            }
            Err(reason) => {
                self.faults.push(place.says(reason));
                None
            }
        }
    }

    /// Returns whether Portcullis can be asked the question; notes why not.
    pub(crate) fn is_sound(&mut self, question: &Question) -> bool {
        let Question { place, user, relation, object, .. } = question;
        if user.contains('#') || user.ends_with(":*") {
            self.notes.push(left_out(place, user));
            return false;
        }
        // Both names are checked, and the kind is the one of the object.
        let kind = match name(user).and(name(object)) {
            Ok(object) => object.kind,
            Err(reason) => {
                self.faults.push(place.says(reason));
                return false;
            }
        };
        if self.model.schema.relation(&kind, relation).is_none() {
            self.faults.push(place.says(self.model.lacks(relation, &kind)));
            return false;
        }
        true
    }
}

impl Question {
    /// Returns the subject as a check names it: the id of a user, and type and id of everybody else.
    pub(crate) fn subject(&self) -> &str {
        match self.user.split_once(':') {
            // Portcullis names a user without its type.
            Some((USER, id)) => id,
            _ => &self.user,
        }
    }
}

/// Returns the note that a question about these users is left out.
pub(crate) fn left_out(place: &Place, user: &str) -> String {
    place.says(format!("left out: a check asks about one subject, not about `{user}`"))
}
