//! The tuples of a store.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use portcullis_directory::{Object, Tuple};
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_model::Timestamp;
use portcullis_model::relation::{EVERYBODY, ObjectName};
use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

use super::condition::Context;
use super::model::{Restriction, Users};
use super::place::Place;
use super::types::ImportedModel;
use super::yaml;
use crate::csv;

/// A tuple as OpenFGA has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredTuple {
    user: String,
    relation: String,
    object: String,
    condition: Option<TupleCondition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TupleCondition {
    name: String,
    context: Option<Context>,
}

/// A tuple in the format of the API and of `relations.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ImportedTuple {
    /// `<type>:<id>`.
    pub(super) object: String,
    pub(super) relation: String,
    pub(super) subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject_relation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written")]
    pub(super) expires_at: Option<DateTime<Utc>>,
}

fn written<S: serde::Serializer>(at: &Option<DateTime<Utc>>, to: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::from).serialize(to)
}

/// Returns the tuples of a YAML or JSON value, each with its place.
pub(super) fn placed(
    tuples: Vec<Spanned<StoredTuple>>,
    start: &Place,
) -> impl Iterator<Item = (Place, StoredTuple)> {
    tuples.into_iter().map(|one| (yaml::place(&one, start), one.value))
}

/// Reads a file of tuples: CSV with the columns of `fga tuple write`, YAML or JSON.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn read(text: &str, start: &Place) -> Result<Vec<(Place, StoredTuple)>, String> {
    if start.file().extension().is_none_or(|end| end != "csv") {
        return Ok(placed(yaml::parse(text, start)?, start).collect());
    }
    let mut rows = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let rows = rows.by_ref().filter(|(_, row)| !row.trim().is_empty());
    let mut rows = rows.map(|(line, row)| {
        let place = start.at(line);
        csv::values(row).map_err(|reason| place.says(reason)).map(|values| (place, values))
    });
    let Some((_, columns)) = rows.next().transpose()? else { return Ok(Vec::new()) };
    let read = rows.map(|row| {
        let (place, values) = row?;
        let tuple = row_tuple(&columns, values).map_err(|reason| place.says(reason))?;
        Ok((place, tuple))
    });
    read.collect()
}

/// Returns the tuple of a row of CSV.
fn row_tuple(columns: &[String], values: Vec<String>) -> Result<StoredTuple, String> {
    if values.len() != columns.len() {
        return Err(format!("expected {} values, not {}", columns.len(), values.len()));
    }
    let mut row: HashMap<&str, String> = columns.iter().map(|name| &**name).zip(values).collect();
    let mut required = |name: &str| {
        let value = row.remove(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| format!("expected a value in the column `{name}`"))
    };
    let user = format!("{}:{}", required("user_type")?, required("user_id")?);
    let object = format!("{}:{}", required("object_type")?, required("object_id")?);
    let relation = required("relation")?;
    let mut optional = |name: &str| row.remove(name).filter(|value| !value.is_empty());
    let user = match optional("user_relation") {
        Some(relation) => format!("{user}#{relation}"),
        None => user,
    };
    let context = optional("condition_context").map(|text| serde_json::from_str(&text));
    let context = context.transpose().map_err(|error| format!("condition_context: {error}"))?;
    let condition = optional("condition_name").map(|name| TupleCondition { name, context });
    match row.into_keys().next() {
        Some(unknown) => Err(format!("the column `{unknown}` is unknown")),
        None => Ok(StoredTuple { user, relation, object, condition }),
    }
}

/// Converts tuples. One that is there twice counts once.
///
/// # Errors
/// Each tuple that the model does not allow, or that Portcullis cannot express.
pub(super) fn convert(
    tuples: &[(Place, StoredTuple)],
    model: &ImportedModel,
) -> Result<Vec<ImportedTuple>, Vec<String>> {
    let (mut converted, mut faults) = (Vec::<ImportedTuple>::new(), Vec::new());
    let mut known = HashMap::new();
    for (place, tuple) in tuples {
        let key = (&tuple.user, &tuple.relation, &tuple.object);
        match tuple.convert(model) {
            Err(reason) => faults.push(place.says(reason)),
            Ok(one) => match known.get(&key).map(|index: &usize| &converted[*index]) {
                None => {
                    known.insert(key, converted.len());
                    converted.push(one);
                }
                Some(same) if *same == one => {}
                Some(_) => {
                    faults.push(place.says("the tuple occurs twice, with different conditions"))
                }
            },
        }
    }
    if faults.is_empty() { Ok(converted) } else { Err(faults) }
}

impl StoredTuple {
    fn convert(&self, model: &ImportedModel) -> Result<ImportedTuple, String> {
        let object = name(&self.object)?;
        let (user, related) = match self.user.rsplit_once('#') {
            Some((user, relation)) => (user, Some(relation)),
            None => (&*self.user, None),
        };
        let subject = name(user)?;
        let object_type = &object.kind;
        let Some(relation) = model.model.relation(object_type, &self.relation) else {
            return Err(format!(
                "the model has no relation `{}` of `{object_type}`",
                self.relation
            ));
        };
        if object.id == EVERYBODY {
            return Err("an object cannot be `*`".to_owned());
        }
        let condition = self.condition.as_ref().filter(|one| !one.name.is_empty());
        let with = condition.map(|one| &*one.name);
        let mut listed = relation.rewrite.restrictions().iter();
        if !listed.any(|one| one.admits(&subject, related, with)) {
            let condition = with.map(|name| format!(" with `{name}`")).unwrap_or_default();
            return Err(format!(
                "`{}`{condition} is not listed in the `[…]` of `{}` of `{object_type}`",
                self.user, self.relation
            ));
        }
        let end = condition.and_then(|one| {
            let none = Context::new();
            Some(model.expiries.get(&one.name)?.end(one.context.as_ref().unwrap_or(&none)))
        });
        Ok(ImportedTuple {
            object: self.object.clone(),
            relation: self.relation.clone(),
            subject: user.to_owned(),
            subject_relation: related.map(str::to_owned),
            expires_at: end.transpose()?,
        })
    }
}

impl Restriction {
    /// Returns whether a tuple may have this user with this condition.
    fn admits(&self, user: &ObjectName, related: Option<&str>, condition: Option<&str>) -> bool {
        let which = match related {
            Some(relation) => Users::Related(relation.to_owned()),
            None if user.id == EVERYBODY => Users::Everyone,
            None => Users::One,
        };
        (&*self.user_type, &self.which, self.condition.as_deref())
            == (&*user.kind, &which, condition)
    }
}

impl ImportedTuple {
    /// Returns the tuple as a table has it; `None` if the model lacks its names.
    pub(super) fn tuple(&self, model: &ImportedModel) -> Option<Tuple<'_>> {
        let (object, subject) = (object(&self.object)?, object(&self.subject)?);
        let number = |of: Object<'_>, name: &str| {
            Some(model.schema.number(model.schema.relation(of.object_type, name)?))
        };
        Some(Tuple {
            object,
            relation: number(object, &self.relation)?,
            subject,
            subject_relation: match &self.subject_relation {
                Some(name) => Some(number(subject, name)?),
                None => None,
            },
            expires_at: self.expires_at,
        })
    }
}

/// Splits `<type>:<id>`.
pub(super) fn object(text: &str) -> Option<Object<'_>> {
    let (object_type, id) = text.split_once(':')?;
    Some(Object { object_type, id })
}

/// Reads `<type>:<id>`.
pub(super) fn name(text: &str) -> Result<ObjectName, String> {
    ObjectName::parse(text).ok_or_else(|| {
        format!("expected `<type>:<id>` of at most {MAX_SUBJECT} characters, not `{text}`")
    })
}
