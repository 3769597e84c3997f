//! The questions that the tests of a store ask.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use portcullis_engine::entities::USER;
use portcullis_model::relation::EVERYBODY;
use serde_json::Value;

use super::condition::{Context, instant};
use super::place::Place;
use super::store::{CheckTest, ListObjectsTest, ListUsersTest, StoreTest};
use super::tuples::{self, ImportedTuple, name, object};
use super::types::ImportedModel;
use super::yaml;

/// A test of a store, with its questions.
#[derive(Debug)]
pub(super) struct ImportedTest {
    pub(super) place: Place,
    pub(super) name: String,
    /// The tuples that the test has beside those of the store.
    pub(super) tuples: Vec<ImportedTuple>,
    pub(super) questions: Vec<Question>,
}

/// Has the user the relation to the object?
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) place: Place,
    pub(super) user: String,
    pub(super) relation: String,
    pub(super) object: String,
    /// The instant at which the test asks, if it says one.
    pub(super) now: Option<DateTime<Utc>>,
    pub(super) expected: bool,
}

/// Collects the questions of the tests.
pub(super) struct Questions<'m> {
    model: &'m ImportedModel,
    tuples: &'m [ImportedTuple],
    faults: Vec<String>,
    /// Each part that is left out, with its place.
    notes: Vec<String>,
}

/// The tests with their questions, and notes about what is left out.
pub(super) type Asked = (Vec<ImportedTest>, Vec<String>);

/// Returns the questions of the tests.
///
/// # Errors
/// Each part of a test that the model does not have.
pub(super) fn read(
    tests: &[StoreTest],
    tuples: &[ImportedTuple],
    model: &ImportedModel,
) -> Result<Asked, Vec<String>> {
    let mut questions = Questions { model, tuples, faults: Vec::new(), notes: Vec::new() };
    let tests = tests.iter().map(|test| questions.test(test)).collect();
    let Questions { faults, notes, .. } = questions;
    if faults.is_empty() { Ok((tests, notes)) } else { Err(faults) }
}

impl Questions<'_> {
    fn test(&mut self, test: &StoreTest) -> ImportedTest {
        let own = tuples::convert(&test.tuples, self.model);
        let own = own.unwrap_or_else(|faults| {
            self.faults.extend(faults);
            Vec::new()
        });
        let mut questions = Vec::new();
        for one in &test.checks {
            self.checks(&yaml::place(one, &test.place), &one.value, &test.place, &mut questions);
        }
        for one in &test.list_objects {
            self.objects(&one.value, &own, &test.place, &mut questions);
        }
        for one in &test.list_users {
            self.users(&one.value, &own, &test.place, &mut questions);
        }
        questions.retain(|question| self.is_sound(question));
        let (place, name) = (test.place.clone(), test.name.clone());
        ImportedTest { place, name, tuples: own, questions }
    }

    fn checks(
        &mut self,
        at: &Place,
        test: &CheckTest,
        start: &Place,
        questions: &mut Vec<Question>,
    ) {
        let users = test.user.iter().chain(test.users.iter().flatten());
        let objects: Vec<_> = test.object.iter().chain(test.objects.iter().flatten()).collect();
        if users.clone().next().is_none() || objects.is_empty() {
            self.faults.push(at.says("expected `user` or `users`, and `object` or `objects`"));
        }
        for user in users {
            for object in &objects {
                for (relation, expected) in &test.assertions {
                    let place = yaml::place(expected, start);
                    let Some(now) = self.now(test.context.as_ref(), &place) else { continue };
                    questions.push(Question {
                        place,
                        user: user.clone(),
                        relation: relation.clone(),
                        object: (*object).clone(),
                        now,
                        expected: expected.value,
                    });
                }
            }
        }
    }

    /// Asks for each known object of the type.
    fn objects(
        &mut self,
        test: &ListObjectsTest,
        own: &[ImportedTuple],
        start: &Place,
        questions: &mut Vec<Question>,
    ) {
        for (relation, listed) in &test.assertions {
            let place = yaml::place(listed, start);
            let Some(now) = self.now(test.context.as_ref(), &place) else { continue };
            let listed: BTreeSet<&str> = texts(listed.value.as_ref());
            let known = self.tuples.iter().chain(own).map(|one| &*one.object);
            let known = known.filter(|text| is_of_type(text, &test.object_type));
            for object in known.chain(listed.iter().copied()).collect::<BTreeSet<_>>() {
                questions.push(Question {
                    place: place.clone(),
                    user: test.user.clone(),
                    relation: relation.clone(),
                    object: object.to_owned(),
                    now,
                    expected: listed.contains(object),
                });
            }
        }
    }

    /// Asks for each known user of the types, except for those of whom the list says nothing because it names everybody.
    fn users(
        &mut self,
        test: &ListUsersTest,
        own: &[ImportedTuple],
        start: &Place,
        questions: &mut Vec<Question>,
    ) {
        for (relation, listed) in &test.assertions {
            let place = yaml::place(listed, start);
            if let Some(filter) = test.user_filter.iter().find(|one| one.relation.is_some()) {
                let relation = filter.relation.as_deref().unwrap_or_default();
                let about = format!("{}#{relation}", filter.user_type);
                self.notes.push(left_out(&place, &about));
                continue;
            }
            let Some(now) = self.now(test.context.as_ref(), &place) else { continue };
            let listed: BTreeSet<&str> = texts(listed.value.users.as_ref());
            let is_asked = |user: &&str| {
                test.user_filter.iter().any(|filter| {
                    let everyone = format!("{}:{EVERYBODY}", filter.user_type);
                    is_of_type(user, &filter.user_type) && !listed.contains(&*everyone)
                })
            };
            let known = self.tuples.iter().chain(own);
            let known = known.filter(|one| one.subject_relation.is_none()).map(|one| &*one.subject);
            let known = known.filter(|user| !user.ends_with(":*")).filter(is_asked);
            for user in known.chain(listed.iter().copied()).collect::<BTreeSet<_>>() {
                questions.push(Question {
                    place: place.clone(),
                    user: user.to_owned(),
                    relation: relation.clone(),
                    object: test.object.clone(),
                    now,
                    expected: listed.contains(user),
                });
            }
        }
    }

    /// Returns the instant at which a test with this context asks; `None` after a fault.
    fn now(&mut self, context: Option<&Context>, place: &Place) -> Option<Option<DateTime<Utc>>> {
        let names: BTreeSet<&str> = self.model.expiries.values().map(|one| &*one.now).collect();
        let given = names.iter().filter_map(|name| context?.get(*name));
        let given: Result<BTreeSet<DateTime<Utc>>, String> = given
            .map(|value| match value {
                Value::String(text) => instant(text),
                other => Err(format!("expected an instant, not `{other}`")),
            })
            .collect();
        match given.map(|given| given.into_iter().collect::<Vec<_>>()) {
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
    fn is_sound(&mut self, question: &Question) -> bool {
        let Question { place, user, relation, object, .. } = question;
        if user.contains('#') || user.ends_with(":*") {
            self.notes.push(left_out(place, user));
            return false;
        }
        let kind = match name(user).and(name(object)) {
            Ok(object) => object.kind,
            Err(reason) => {
                self.faults.push(place.says(reason));
                return false;
            }
        };
        if self.model.schema.relation(&kind, relation).is_none() {
            let reason = format!("the model has no relation `{relation}` of `{kind}`");
            self.faults.push(place.says(reason));
            return false;
        }
        true
    }
}

impl Question {
    /// Returns the subject as a check names it: the id of a user, and type and id of everybody else.
    pub(super) fn subject(&self) -> &str {
        match self.user.split_once(':') {
            Some((USER, id)) => id,
            _ => &self.user,
        }
    }
}

fn left_out(place: &Place, user: &str) -> String {
    place.says(format!("left out: a check asks about one subject, not about `{user}`"))
}

fn texts(list: Option<&Vec<String>>) -> BTreeSet<&str> {
    list.into_iter().flatten().map(String::as_str).collect()
}

fn is_of_type(text: &str, of_type: &str) -> bool {
    object(text).is_some_and(|one| one.object_type == of_type)
}
