//! The questions that a validation file asks.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use portcullis_model::relation::EVERYBODY;
use serde_saphyr::Spanned;

use super::relationships::{relationship, with_context};
use super::unfilled::Unfilled;
use super::validation::{Expected, Subjects};
use crate::relations::place::Place;
use crate::relations::questions::{
    ImportedTest, NotedTests, Question, Questions, known_users, left_out,
};
use crate::relations::tuples::{ImportedTuple, StoredTuple, object};
use crate::relations::types::ImportedModel;
use crate::relations::yaml;

/// The mark of a subject whose caveat needs a context.
const CAVEATED: &str = "[...]";

/// The questions of a validation file.
struct Assertions<'m> {
    questions: Questions<'m>,
    unfilled: &'m Unfilled,
    /// The instant of the questions that say none: the instant of the import, if a tuple expires.
    now: Option<DateTime<Utc>>,
    asked: Vec<Question>,
}

/// Returns the questions of `assertions` and of `validation`.
///
/// # Errors
/// Each part that the schema does not have.
pub(super) fn read(
    expected: &Expected,
    tuples: &[ImportedTuple],
    model: &ImportedModel,
    now: DateTime<Utc>,
) -> Result<NotedTests, Vec<String>> {
    let expires = tuples.iter().any(|one| one.expires_at.is_some());
    let mut all = Assertions {
        questions: Questions::new(model, tuples),
        unfilled: &expected.unfilled,
        now: expires.then_some(now),
        asked: Vec::new(),
    };
    let Expected { start, assertions, subjects, .. } = expected;
    for (list, expected) in [(&assertions.assert_true, true), (&assertions.assert_false, false)] {
        for one in list.iter().flatten() {
            all.assertion(one, expected, start);
        }
    }
    for one in assertions.assert_caveated.iter().flatten() {
        let reason = "left out: a check always has its time, so that no caveat stays open";
        all.questions.notes.push(yaml::place(one, start).says(reason));
    }
    let asserted = all.test("assertions", start);
    all.subjects(subjects, start);
    let listed = all.test("validation", start);
    all.questions.finish(vec![asserted, listed])
}

impl Assertions<'_> {
    /// Takes the questions so far as one test.
    fn test(&mut self, name: &str, start: &Place) -> ImportedTest {
        let mut questions = std::mem::take(&mut self.asked);
        // The order matters, because the model lacks the permissions that nobody can have.
        questions.retain(|question| self.is_filled(question) && self.questions.is_sound(question));
        ImportedTest { place: start.clone(), name: name.to_owned(), tuples: Vec::new(), questions }
    }

    /// Returns whether somebody can have the relation. Notes that the question is left out if not.
    fn is_filled(&mut self, question: &Question) -> bool {
        let kind = object(&question.object).map(|one| one.object_type.to_owned());
        // The look at whether the question is sound reports it.
        let Some(kind) = kind else { return true };
        let Question { place, relation, .. } = question;
        if !self.unfilled.contains(&(kind.clone(), relation.clone())) {
            return true;
        }
        let nobody = format!("nobody can have `{relation}` of `{kind}`");
        match question.expected {
            true => self.questions.faults.push(place.says(nobody)),
            false => self.questions.notes.push(place.says(format!("left out: {nobody}"))),
        }
        false
    }

    fn assertion(&mut self, one: &Spanned<String>, expected: bool, start: &Place) {
        let place = yaml::place(one, start);
        let read = with_context(one.value.trim()).and_then(|(text, context)| {
            relationship(text)
                .map(|StoredTuple { user, relation, object, .. }| (user, relation, object, context))
        });
        let (user, relation, object, context) = match read {
            Ok(read) => read,
            Err(reason) => return self.questions.faults.push(place.says(reason)),
        };
        let Some(now) = self.questions.now(context.as_ref(), &place) else { return };
        let now = now.or(self.now);
        self.asked.push(Question { place, user, relation, object, now, expected });
    }

    /// Asks about the listed subjects, and about the known ones that are not listed.
    fn subjects(&mut self, subjects: &Subjects, start: &Place) {
        for (of, list) in subjects {
            let place = yaml::place(list, start);
            let Some((object_name, relation)) = of.rsplit_once('#') else {
                let reason = format!("expected `<type>:<id>#<relation>`, not `{of}`");
                self.questions.faults.push(place.says(reason));
                continue;
            };
            let mut open = BTreeSet::new();
            let mut listed = BTreeMap::new();
            for one in list.value.iter().flatten() {
                let place = yaml::place(one, start);
                match Listed::read(&one.value) {
                    Some(Listed::One(user)) => drop(listed.insert(user, place)),
                    Some(Listed::Open(users)) => {
                        self.questions.notes.push(left_out(&place, users));
                        open.insert(users);
                    }
                    None => {
                        let reason = format!("expected `[<subject>] is …`, not `{}`", one.value);
                        self.questions.faults.push(place.says(reason));
                    }
                }
            }
            let known = known_users(self.questions.tuples.iter());
            let known = known.filter(|user| !is_open(user, &open));
            for user in known.chain(listed.keys().copied()).collect::<BTreeSet<_>>() {
                self.asked.push(Question {
                    place: listed.get(user).unwrap_or(&place).clone(),
                    user: user.to_owned(),
                    relation: relation.to_owned(),
                    object: object_name.to_owned(),
                    now: self.now,
                    expected: listed.contains_key(user),
                });
            }
        }
    }
}

/// Returns whether a list leaves open if it has `user`, by name or as one of everybody.
fn is_open(user: &str, open: &BTreeSet<&str>) -> bool {
    let everyone = object(user).map(|one| format!("{}:{EVERYBODY}", one.object_type));
    open.contains(user) || everyone.is_some_and(|all| open.contains(&*all))
}

/// A subject of a list.
enum Listed<'t> {
    One(&'t str),
    /// Subjects that a check cannot ask about, or about whom the list says nothing certain.
    Open(&'t str),
}

impl<'t> Listed<'t> {
    /// Reads `[user:ann] is <document:plan#viewer>`.
    fn read(text: &'t str) -> Option<Self> {
        let inner = text.trim().strip_prefix('[')?;
        let (inner, is_caveated) = match inner.split_once(CAVEATED) {
            Some((inner, _)) => (inner, true),
            None => (inner.split_once(']')?.0, false),
        };
        // Everybody but some: `user:* - {user:ann}`.
        let (user, _) = inner.split_once(" - ").unwrap_or((inner, ""));
        let is_open = is_caveated || user.contains('#') || user.ends_with(":*");
        Some(if is_open { Self::Open(user) } else { Self::One(user) })
    }
}
