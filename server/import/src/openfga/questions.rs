//! The questions that the tests of a store ask.

use std::collections::BTreeSet;

use portcullis_model::relation::EVERYBODY;

use super::store::{CheckTest, ListObjectsTest, ListUsersTest, StoreTest};
use crate::relations::place::Place;
use crate::relations::questions::{
    ImportedTest, NotedTests, Question, Questions, known_users, left_out,
};
use crate::relations::tuples::{self, ImportedTuple, object};
use crate::relations::types::ImportedModel;
use crate::relations::yaml;

/// The questions of a store.
struct StoreQuestions<'m>(Questions<'m>);

/// Returns the questions of the tests.
///
/// # Errors
/// Each part of a test that the model does not have.
pub(super) fn read(
    tests: &[StoreTest],
    tuples: &[ImportedTuple],
    model: &ImportedModel,
) -> Result<NotedTests, Vec<String>> {
    let mut questions = StoreQuestions(Questions::new(model, tuples));
    let tests = tests.iter().map(|test| questions.test(test)).collect();
    questions.0.finish(tests)
}

impl StoreQuestions<'_> {
    fn test(&mut self, test: &StoreTest) -> ImportedTest {
        let own = tuples::convert(&test.tuples, self.0.model);
        // The questions are read all the same, so that their faults are reported together with these.
        let own = own.unwrap_or_else(|faults| {
            self.0.faults.extend(faults);
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
        // A question that cannot be asked leaves a note. One with a fault makes `finish` return an error.
        questions.retain(|question| self.0.is_sound(question));
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
        // A test without one of the two would ask nothing, and so pass without any meaning.
        if users.clone().next().is_none() || objects.is_empty() {
            self.0.faults.push(at.says("expected `user` or `users`, and `object` or `objects`"));
        }
        for user in users {
            for object in &objects {
                for (relation, expected) in &test.assertions {
                    let place = yaml::place(expected, start);
                    let Some(now) = self.0.now(test.context.as_ref(), &place) else { continue };
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
            let Some(now) = self.0.now(test.context.as_ref(), &place) else { continue };
            let listed: BTreeSet<&str> = texts(listed.value.as_ref());
            // A list says who is absent, too: each object that is known and not listed must be refused.
            let known = self.0.tuples.iter().chain(own).map(|one| &*one.object);
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

    /// Asks for each known user of the types. A list that names everybody says nothing about single users.
    fn users(
        &mut self,
        test: &ListUsersTest,
        own: &[ImportedTuple],
        start: &Place,
        questions: &mut Vec<Question>,
    ) {
        for (relation, listed) in &test.assertions {
            let place = yaml::place(listed, start);
            // A check asks about one user, not about those who have a relation.
            if let Some(filter) = test.user_filter.iter().find(|one| one.relation.is_some()) {
                let relation = filter.relation.as_deref().unwrap_or_default();
                let about = format!("{}#{relation}", filter.user_type);
                self.0.notes.push(left_out(&place, &about));
                continue;
            }
            let Some(now) = self.0.now(test.context.as_ref(), &place) else { continue };
            let listed: BTreeSet<&str> = texts(listed.value.users.as_ref());
            let known = known_users(self.0.tuples.iter().chain(own));
            let known = known.filter(|user| test.asks_for(user, &listed));
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
}

impl ListUsersTest {
    /// Returns whether the answer for `user` follows from the users that the test lists.
    fn asks_for(&self, user: &str, listed: &BTreeSet<&str>) -> bool {
        self.user_filter.iter().any(|filter| {
            let everyone = format!("{}:{EVERYBODY}", filter.user_type);
            is_of_type(user, &filter.user_type) && !listed.contains(&*everyone)
        })
    }
}

fn texts(list: Option<&Vec<String>>) -> BTreeSet<&str> {
    list.into_iter().flatten().map(String::as_str).collect()
}

fn is_of_type(text: &str, of_type: &str) -> bool {
    object(text).is_some_and(|one| one.object_type == of_type)
}
