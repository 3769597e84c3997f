//! The tuples of another system, and what they become.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use portcullis_directory::{Object, Tuple};
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_model::Timestamp;
use portcullis_model::relation::{EVERYBODY, ObjectName};
use serde::{Deserialize, Serialize};

use super::condition::{Context, rounded};
use super::model::{Restriction, Users};
use super::place::Place;
use super::types::ImportedModel;

/// A tuple as the other system has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredTuple {
    /// `<type>:<id>`, with `#<relation>` after it for those who have the relation.
    pub(crate) user: String,
    pub(crate) relation: String,
    pub(crate) object: String,
    pub(crate) condition: Option<TupleCondition>,
    /// The expiry that does not come from a condition; OpenFGA has none.
    #[serde(skip)]
    pub(crate) expires_at: Option<DateTime<Utc>>,
}

/// A condition with the values that the tuple gives it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TupleCondition {
    pub(crate) name: String,
    pub(crate) context: Option<Context>,
}

/// A tuple in the format of the API and of `relations.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ImportedTuple {
    /// `<type>:<id>`.
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject_relation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written")]
    pub(crate) expires_at: Option<DateTime<Utc>>,
}

fn written<S: serde::Serializer>(at: &Option<DateTime<Utc>>, to: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::from).serialize(to)
}

/// Converts tuples. One that is there twice counts once.
///
/// # Errors
/// Each tuple that the model does not allow, or that Portcullis cannot express.
pub(crate) fn convert(
    tuples: &[(Place, StoredTuple)],
    model: &ImportedModel,
) -> Result<Vec<ImportedTuple>, Vec<String>> {
    let (mut converted, mut faults) = (Vec::<ImportedTuple>::new(), Vec::new());
    let mut known = HashMap::new();
    for (place, tuple) in tuples {
        // The key lacks the condition, so that a tuple with two of them is found.
        let key = (&tuple.user, &tuple.relation, &tuple.object);
        match tuple.convert(model) {
            Err(reason) => faults.push(place.says(reason)),
            Ok(one) => match known.get(&key).map(|index: &usize| &converted[*index]) {
                None => {
                    known.insert(key, converted.len());
                    converted.push(one);
                }
                // The same tuple may stand in several files.
                Some(same) if *same == one => {}
                Some(_) => faults.push(place.says(format!(
                    "the {} occurs twice, with different conditions",
                    model.model.system.tuple
                ))),
            },
        }
    }
    if faults.is_empty() { Ok(converted) } else { Err(faults) }
}

impl StoredTuple {
    fn convert(&self, model: &ImportedModel) -> Result<ImportedTuple, String> {
        let object = name(&self.object)?;
        // A relation cannot contain a `#`, but an id can, so the last one separates them.
        let (user, related) = match self.user.rsplit_once('#') {
            Some((user, relation)) => (user, Some(relation)),
            None => (&*self.user, None),
        };
        let subject = name(user)?;
        let object_type = &object.kind;
        let Some(relation) = model.model.relation(object_type, &self.relation) else {
            return Err(model.lacks(&self.relation, object_type));
        };
        // Only subjects have a wildcard.
        if object.id == EVERYBODY {
            return Err("an object cannot be `*`".to_owned());
        }
        if object.id.contains('#') {
            return Err(format!(
                "`{}` is not one object; leave out the `#` and what follows",
                self.object
            ));
        }
        // The API may send an empty name for a tuple without a condition.
        let condition = self.condition.as_ref().filter(|one| !one.name.is_empty());
        let with = condition.map(|one| &*one.name);
        let mut listed = relation.rewrite.restrictions().iter();
        if !listed.any(|one| one.admits(&subject, related, with, self.expires_at.is_some())) {
            let condition = with.map(|name| format!(" with `{name}`")).unwrap_or_default();
            let expiry = if self.expires_at.is_some() { " with an expiration" } else { "" };
            let unlisted = model.model.system.unlisted;
            return Err(format!(
                "`{}`{condition}{expiry} {unlisted} of `{}` of `{object_type}`",
                self.user, self.relation
            ));
        }
        let end = condition.and_then(|one| {
            let none = Context::new();
            Some(model.expiries.get(&one.name)?.end(one.context.as_ref().unwrap_or(&none)))
        });
        let own = self.expires_at.map(rounded).transpose()?;
        // A tuple counts until the first of its ends.
        let end = end.transpose()?.into_iter().chain(own).min();
        Ok(ImportedTuple {
            object: self.object.clone(),
            relation: self.relation.clone(),
            subject: user.to_owned(),
            subject_relation: related.map(str::to_owned),
            expires_at: end,
        })
    }
}

impl Restriction {
    /// Returns whether a tuple may have this user with this condition, and with or without its own expiry.
    fn admits(
        &self,
        user: &ObjectName,
        related: Option<&str>,
        condition: Option<&str>,
        expires: bool,
    ) -> bool {
        let which = match related {
            Some(relation) => Users::Related(relation.to_owned()),
            None if user.id == EVERYBODY => Users::Everyone,
            None => Users::One,
        };
        (&*self.user_type, &self.which, self.condition.as_deref(), self.expires)
            == (&*user.kind, &which, condition, expires)
    }
}

impl ImportedTuple {
    /// Returns the tuple as a table has it; `None` if the model lacks its names.
    pub(crate) fn tuple(&self, model: &ImportedModel) -> Option<Tuple<'_>> {
        let (object, subject) = (object(&self.object)?, object(&self.subject)?);
        Some(Tuple {
            object,
            relation: model.number_of(object.object_type, &self.relation)?,
            subject,
            subject_relation: match &self.subject_relation {
                Some(name) => Some(model.number_of(subject.object_type, name)?),
                None => None,
            },
            expires_at: self.expires_at,
        })
    }
}

/// Splits `<type>:<id>`.
pub(crate) fn object(text: &str) -> Option<Object<'_>> {
    let (object_type, id) = text.split_once(':')?;
    Some(Object { object_type, id })
}

/// Reads `<type>:<id>`.
pub(crate) fn name(text: &str) -> Result<ObjectName, String> {
    ObjectName::parse(text).ok_or_else(|| {
        format!("expected `<type>:<id>` of at most {MAX_SUBJECT} characters, not `{text}`")
    })
}
