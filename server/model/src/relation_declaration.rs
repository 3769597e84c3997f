//! Relations as types declare them (`docs/semantics.md`, section 12.10).

use std::collections::BTreeMap;

use portcullis_directory::{
    AbsentClaim, MAX_LINE, MAX_RELATIONS, RelationDefinition, read_relations,
};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Json, json};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::fields::text;
use crate::input::{self, Field, Members, field};
use crate::{document, schema};

/// Longest name of a claim, attribute or relation, in characters.
const MAX_NAME: usize = 128;

/// The relations of a type by name.
pub type RelationDeclarations = BTreeMap<String, RelationDeclaration>;

/// A relation as it is declared. Two are equal if their lines mean the same by their form, whatever was renamed.
#[derive(Clone, Debug)]
pub struct RelationDeclaration(pub RelationDefinition);

impl PartialEq for RelationDeclaration {
    fn eq(&self, other: &Self) -> bool {
        // The JSON has no former names, and writes equal lines alike.
        self.0.to_json() == other.0.to_json()
    }
}

impl Eq for RelationDeclaration {}

impl Serialize for RelationDeclaration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json().serialize(serializer)
    }
}

document!(RelationDeclaration as "Relation" => schema::one_of([
    line("Who can be stored, and which relations give this one").into(),
    input::describe(describe_long).into(),
]));

fn line(about: &str) -> ObjectBuilder {
    schema::text(MAX_LINE)
        .description(Some(about))
        .examples([json!("[user, group#member] || owner || parent.viewer")])
}

/// Describes the long form, which the engine reads.
fn describe_long(members: &mut Members<'_, '_>) -> Option<()> {
    members.required("from", text(MAX_LINE).about("The line of the short form"));
    members.optional("claim", claim());
    let about = "The attribute of the resource that stands for its stored tuples";
    members.optional("request", text(MAX_NAME).about(about));
    let about = "The name that the relation had before; its tuples stay";
    members.optional("renamed_from", text(MAX_NAME).about(about));
    Some(())
}

/// The claim of a relation, as the schema has it: the engine reads it.
fn claim<'j>() -> impl Field<'j, Value = ()> {
    field(
        // The field only describes: nothing is ever read with it.
        |_, _, _| Some(()),
        || {
            let about =
                "What it means that the token lacks the claim; the default is `undetermined`";
            let absent = schema::choice(AbsentClaim::NAMES).description(Some(about));
            let long = schema::input().required("name", claim_name()).optional("absent", absent);
            schema::about(
                schema::one_of([claim_name().into(), long.into()]),
                "The claim of the token that makes the caller one of the relation: its name, or with what its absence means",
            )
        },
    )
}

fn claim_name() -> ObjectBuilder {
    schema::text(MAX_NAME).description(Some(
        "The claim of the token that lists the objects to which the caller has the relation",
    ))
}

/// The relations of a type.
pub(crate) fn relations<'j>() -> impl Field<'j, Value = RelationDeclarations> {
    field(read, || {
        schema::typed(Type::Object)
            .additional_properties(Some(schema::named::<RelationDeclaration>()))
            .property_names(Some(schema::text(MAX_NAME)))
            .max_properties(Some(MAX_RELATIONS))
            .description(Some("The relations of the objects of the type, by name"))
    })
}

/// Reads the relations of a stored type.
pub(crate) fn stored_relations<'d, D: Deserializer<'d>>(
    from: D,
) -> Result<RelationDeclarations, D::Error> {
    let text = Box::<RawValue>::deserialize(from)?;
    parse_stored(text.get()).ok_or_else(|| D::Error::custom("not the relations of a type"))
}

fn parse_stored(text: &str) -> Option<RelationDeclarations> {
    let json = json::parse(text.as_bytes()).ok()?;
    let mut problems = Problems::default();
    let relations = read(&json, &Place::root(), &mut problems);
    problems.finish(relations).ok()
}

fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<RelationDeclarations> {
    let read = read_relations(json, at, problems)?;
    for relation in &read {
        let Some(old) = &relation.renamed_from else { continue };
        if read.iter().any(|other| other.name == *old) {
            let what = "the name of a relation that the type does not have any more";
            problems.expected(&at.key(&relation.name).key("renamed_from"), what);
        // Two relations cannot both have the tuples of the one from before.
        } else if read
            .iter()
            .any(|other| other.name != relation.name && other.renamed_from.as_ref() == Some(old))
        {
            let what = "a name that no other relation had before";
            problems.expected(&at.key(&relation.name).key("renamed_from"), what);
        }
    }
    let named =
        read.into_iter().map(|relation| (relation.name.clone(), RelationDeclaration(relation)));
    Some(named.collect())
}
