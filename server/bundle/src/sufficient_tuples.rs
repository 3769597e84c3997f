//! Tuples that give the subject of a check its relations again, where only the relations are known.

use std::collections::BTreeSet;

use portcullis_directory::resource_of;
use portcullis_engine::entities::USER;
use portcullis_engine::relation::{RELATION, RelationTarget};
use portcullis_engine::{AttributeAnswer, AttributeAnswers, Check, Json, type_of_subject};
use portcullis_model::relation::{NewTuple, ObjectName};

use crate::rulebook::Rulebook;

impl Rulebook {
    /// Returns tuples by which the subject of a check as it was sent has exactly the relations `wanted`: those of `known`, and
    /// further ones of the subject itself to the objects of the relations. `None` if no such tuples give them.
    pub fn sufficient_tuples(
        &self,
        sent: &Check<'_>,
        wanted: &AttributeAnswers,
        known: Vec<NewTuple>,
    ) -> Option<Vec<NewTuple>> {
        let names: Vec<Box<str>> =
            wanted.for_namespace(RELATION).map(|(name, _)| name.into()).collect();
        let mut tuples = known;
        for name in names.iter().filter(|name| holds(wanted, name)) {
            if !holds(&self.relation_answers(sent, &tuples, &names).ok()?, name) {
                let mut possible = self.possible_tuples(sent, name).into_iter();
                let added =
                    possible.find(|one| self.adds(sent, wanted, (&tuples, one), (name, &names)))?;
                tuples.push(added);
            }
        }
        // The known tuples alone may give a relation that is not wanted.
        let answers = self.relation_answers(sent, &tuples, &names).ok()?;
        (answers == *wanted).then_some(tuples)
    }

    /// Returns whether the tuple `one` beside `tuples` gives the relation `name`, and none that is not wanted.
    fn adds(
        &self,
        sent: &Check<'_>,
        wanted: &AttributeAnswers,
        (tuples, one): (&[NewTuple], &NewTuple),
        (name, names): (&str, &[Box<str>]),
    ) -> bool {
        let with: Vec<NewTuple> = tuples.iter().chain([one]).cloned().collect();
        // The types may not allow the tuple.
        let Ok(answers) = self.relation_answers(sent, &with, names) else { return false };
        holds(&answers, name)
            && !names.iter().any(|other| holds(&answers, other) && !holds(wanted, other))
    }

    /// Returns a tuple of the subject for each relation to the object of the relation `name`, that relation first.
    fn possible_tuples(&self, sent: &Check<'_>, name: &str) -> Vec<NewTuple> {
        let (object, relation) = match RelationTarget::parse(name) {
            RelationTarget::OfResource(relation) => {
                let object = resource_of(sent).map(|one| ObjectName::new(one.object_type, one.id));
                (object, relation)
            }
            RelationTarget::OfObject { object_type, id, relation } => {
                (Some(ObjectName::new(object_type, id)), relation)
            }
        };
        let Some(object) = object else { return Vec::new() };
        let kind = type_of_subject(sent.subject_type, sent.subject);
        let prefix = format!("{kind}:");
        let id = sent.subject.strip_prefix(&prefix).filter(|_| kind != USER);
        let subject = ObjectName::new(kind, id.unwrap_or(sent.subject));
        let others: BTreeSet<&str> = self.relations_of(&object.kind).collect();
        let relations = [relation].into_iter().chain(others);
        let tuples = relations.map(|relation| NewTuple {
            object: object.clone(),
            relation: relation.to_owned(),
            subject: subject.clone(),
            subject_relation: None,
            expires_at: None,
        });
        tuples.collect()
    }
}

/// Returns whether the answers say that the subject has the relation.
fn holds(answers: &AttributeAnswers, name: &str) -> bool {
    answers.get(RELATION, name) == Some(&AttributeAnswer::Value(Json::Bool(true)))
}
