//! Models as OpenFGA's API has them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

use crate::relations::model::{
    Model, ModelCondition, ModelRelation, ModelType, Restriction, Rewrite, Users,
};
use crate::relations::place::Place;
use crate::relations::system::OPENFGA;
use crate::relations::yaml;

#[derive(Deserialize)]
struct JsonModel {
    schema_version: String,
    type_definitions: Vec<Spanned<JsonType>>,
    conditions: Option<BTreeMap<String, Spanned<JsonCondition>>>,
}

#[derive(Deserialize)]
struct JsonType {
    #[serde(rename = "type")]
    name: String,
    relations: Option<BTreeMap<String, Spanned<JsonRewrite>>>,
    metadata: Option<JsonMetadata>,
}

#[derive(Deserialize, Default)]
struct JsonMetadata {
    relations: Option<BTreeMap<String, JsonRestrictions>>,
}

#[derive(Deserialize)]
struct JsonRestrictions {
    directly_related_user_types: Option<Vec<JsonRestriction>>,
}

/// Absent texts may be empty.
#[derive(Deserialize)]
struct JsonRestriction {
    #[serde(rename = "type")]
    user_type: String,
    #[serde(default)]
    relation: String,
    wildcard: Option<IgnoredAny>,
    #[serde(default)]
    condition: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum JsonRewrite {
    This(IgnoredAny),
    #[serde(alias = "computed_userset")]
    ComputedUserset(JsonRelation),
    #[serde(alias = "tuple_to_userset", rename_all = "camelCase")]
    TupleToUserset {
        tupleset: JsonRelation,
        #[serde(alias = "computed_userset")]
        computed_userset: JsonRelation,
    },
    Union {
        child: Vec<JsonRewrite>,
    },
    Intersection {
        child: Vec<JsonRewrite>,
    },
    Difference {
        base: Box<JsonRewrite>,
        subtract: Box<JsonRewrite>,
    },
}

#[derive(Deserialize)]
struct JsonRelation {
    relation: String,
}

#[derive(Deserialize)]
struct JsonCondition {
    expression: String,
    parameters: Option<BTreeMap<String, JsonParameter>>,
}

#[derive(Deserialize)]
struct JsonParameter {
    type_name: String,
}

impl JsonParameter {
    /// Returns the type without its prefix: `timestamp` for `TYPE_NAME_TIMESTAMP`.
    fn kind(&self) -> String {
        self.type_name.trim_start_matches("TYPE_NAME_").to_lowercase()
    }
}

/// Parses the JSON of a model in `file`.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, start: &Place) -> Result<Model, String> {
    let JsonModel { schema_version, type_definitions, conditions } = yaml::parse(text, start)?;
    if !matches!(&*schema_version, "1.1" | "1.2") {
        return Err(start.says(format!("expected schema `1.1` or `1.2`, not `{schema_version}`")));
    }
    let types = type_definitions.into_iter().map(|one| model_type(one, start));
    let conditions = conditions.into_iter().flatten().map(|(name, condition)| ModelCondition {
        name,
        place: yaml::place(&condition, start),
        parameters: parameters(condition.value.parameters),
        expression: condition.value.expression,
    });
    let types = types.collect::<Result<_, _>>()?;
    Ok(Model { types, conditions: conditions.collect(), ..Model::new(&OPENFGA) })
}

fn model_type(found: Spanned<JsonType>, start: &Place) -> Result<ModelType, String> {
    let place = yaml::place(&found, start);
    let JsonType { name, relations, metadata } = found.value;
    let mut restrictions = metadata.and_then(|all| all.relations).unwrap_or_default();
    let relations = relations.into_iter().flatten().map(|(relation, rewrite)| {
        let place = yaml::place(&rewrite, start);
        // A relation without `this` may still have restrictions, which then mean nothing.
        let restrictions = restrictions.remove(&relation);
        let restrictions = restrictions.and_then(|all| all.directly_related_user_types);
        let mut restrictions = restrictions.map(|all| all.into_iter().map(restriction).collect());
        let rewrite = rewrite.value.into_rewrite(&mut restrictions).ok_or_else(|| {
            place.says(format!("`{relation}` of `{name}`: `this` needs one list of user types"))
        })?;
        Ok(ModelRelation { name: relation, place, rewrite })
    });
    let relations = relations.collect::<Result<_, String>>()?;
    Ok(ModelType { name, place, relations })
}

fn restriction(found: JsonRestriction) -> Restriction {
    let JsonRestriction { user_type, relation, wildcard, condition } = found;
    let which = match wildcard {
        Some(_) => Users::Everyone,
        // The API leaves out empty texts, or sends them: both mean that there is no relation.
        None if relation.is_empty() => Users::One,
        None => Users::Related(relation),
    };
    let condition = (!condition.is_empty()).then_some(condition);
    Restriction { user_type, which, condition, expires: false }
}

/// Returns the types as the modeling language writes them.
fn parameters(found: Option<BTreeMap<String, JsonParameter>>) -> Vec<(String, String)> {
    let found = found.into_iter().flatten();
    found.map(|(name, one)| (name, one.kind())).collect()
}

impl JsonRewrite {
    /// Returns the rewrite; the first `this` takes the restrictions. `None` if there are none for a `this`.
    fn into_rewrite(self, restrictions: &mut Option<Vec<Restriction>>) -> Option<Rewrite> {
        Some(match self {
            Self::This(_) => Rewrite::Direct(restrictions.take()?),
            Self::ComputedUserset(own) => Rewrite::Computed(own.relation),
            Self::TupleToUserset { tupleset, computed_userset } => {
                Rewrite::From { relation: computed_userset.relation, parents: tupleset.relation }
            }
            Self::Union { child } => Rewrite::Any(Self::into_rewrites(child, restrictions)?),
            Self::Intersection { child } => Rewrite::All(Self::into_rewrites(child, restrictions)?),
            Self::Difference { base, subtract } => {
                // The base comes first, so that a `this` in it takes the restrictions.
                let base = base.into_rewrite(restrictions)?;
                Rewrite::Except(Box::new(base), Box::new(subtract.into_rewrite(restrictions)?))
            }
        })
    }

    fn into_rewrites(
        all: Vec<Self>,
        restrictions: &mut Option<Vec<Restriction>>,
    ) -> Option<Vec<Rewrite>> {
        all.into_iter().map(|one| one.into_rewrite(restrictions)).collect()
    }
}
