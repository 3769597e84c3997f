//! The types that a model becomes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_directory::{
    RelationDefinition, RelationNumber, Schema, TypeRelations, read_relations,
};
use portcullis_engine::entities::USER;
use portcullis_engine::invalid::{Fault, Place as Pointer, Problem, Problems};
use portcullis_engine::types::{ACTION, CONTEXT};
use portcullis_engine::{Effect, Json, leading_word};
use portcullis_model::entity::is_type;

use super::condition::ExpiryCondition;
use super::line;
use super::model::{Model, ModelRelation, ModelType};
use super::system::System;
use crate::rule::{Rule, STAR, accepted};

/// The characters that have a meaning beside a type in a line or in a rule.
const RESERVED: [char; 5] = ['[', ']', ',', '#', '*'];

/// A model whose types Portcullis can have.
#[derive(Debug)]
pub(crate) struct ImportedModel {
    pub(crate) model: Model,
    /// The relations of each type of the model, in its order.
    pub(crate) relations: Vec<Vec<(RelationNumber, RelationDefinition)>>,
    pub(crate) schema: Arc<Schema>,
    /// The conditions by their names.
    pub(crate) expiries: BTreeMap<String, ExpiryCondition>,
}

impl ImportedModel {
    /// Converts a model.
    ///
    /// # Errors
    /// Each line that Portcullis cannot express, and what to write instead.
    pub(crate) fn new(model: Model) -> Result<Self, Vec<String>> {
        let mut faults: Vec<String> =
            model.types.iter().flat_map(|one| name_faults(one, model.system)).collect();
        let mut expiries = BTreeMap::new();
        // What nothing uses decides nothing.
        let used: BTreeSet<&str> = used_conditions(&model).map(|(_, name)| name).collect();
        for condition in model.conditions.iter().filter(|one| used.contains(&*one.name)) {
            match ExpiryCondition::read(condition, model.system) {
                Ok(expiry) => drop(expiries.insert(condition.name.clone(), expiry)),
                Err(reason) => faults.push(condition.place.says(reason)),
            }
        }
        faults.extend(unknown_conditions(&model));
        if !faults.is_empty() {
            return Err(faults);
        }
        let (mut relations, mut numbers) = (Vec::new(), (0..).map(RelationNumber));
        for one in &model.types {
            let mut own = Vec::new();
            // The numbers come second, because `zip` takes none of them once the relations end.
            for (relation, number) in one.relations.iter().zip(&mut numbers) {
                match definition(relation) {
                    Ok(definition) => own.push((number, definition)),
                    Err(reason) => faults.push(relation.place.says(reason)),
                }
            }
            relations.push(own);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let types: Vec<TypeRelations<'_>> = model
            .types
            .iter()
            .zip(&relations)
            .map(|(one, relations)| TypeRelations { name: &one.name, relations })
            .collect();
        match Schema::compile(&types) {
            Ok(schema) => Ok(Self { schema: Arc::new(schema), model, relations, expiries }),
            Err(invalid) => {
                Err(invalid.problems().iter().map(|one| said(&model, &relations, one)).collect())
            }
        }
    }

    /// Returns the types that have to be declared, each with its relations.
    pub(crate) fn types(
        &self,
    ) -> impl Iterator<Item = (&str, &[(RelationNumber, RelationDefinition)])> {
        let all = self.model.types.iter().zip(&self.relations);
        let all = all.map(|(one, relations)| (&*one.name, &relations[..]));
        all.filter(|(name, relations)| *name != USER || !relations.is_empty())
    }

    /// Returns the number of the relation `relation` of a type, if it has it.
    pub(crate) fn number_of(&self, of_type: &str, relation: &str) -> Option<RelationNumber> {
        Some(self.schema.number(self.schema.relation(of_type, relation)?))
    }

    /// Returns the fault that a type has no such relation.
    pub(crate) fn lacks(&self, relation: &str, of_type: &str) -> String {
        format!("the {} has no relation `{relation}` of `{of_type}`", self.model.system.model)
    }

    /// Returns one rule for each relation: who has it may do what is named as the relation.
    ///
    /// # Errors
    /// Each relation for which Portcullis has no rule.
    pub(crate) fn rules(&self) -> Result<Vec<Rule>, Vec<String>> {
        let (mut rules, mut faults) = (Vec::new(), Vec::new());
        for one in &self.model.types {
            for relation in &one.relations {
                let rule = Rule {
                    sub: format!("{}@resource", relation.name),
                    dom: Some(STAR.to_owned()),
                    obj: format!("{}:{}", one.name, relation.name),
                    act: relation.name.clone(),
                    effect: Effect::Allow,
                };
                match accepted(rule) {
                    Ok(rule) => rules.push(rule),
                    Err(reason) => faults.push(relation.place.says(reason)),
                }
            }
        }
        if faults.is_empty() { Ok(rules) } else { Err(faults) }
    }
}

/// Returns the names of a type that no type of Portcullis has.
fn name_faults(one: &ModelType, system: &System) -> Vec<String> {
    let rename = format!(
        "rename it in the {}, the {}s and the {}",
        system.model, system.tuple, system.tests
    );
    let name = &*one.name;
    let mut faults = Vec::new();
    if !is_type(name) || name.contains(RESERVED) || matches!(name, CONTEXT | ACTION) {
        let reason = format!("`{name}` cannot be the name of a type; {rename}");
        faults.push(one.place.says(reason));
    }
    for relation in &one.relations {
        let own = &*relation.name;
        let renamed = match own {
            "id" | "type" => format!("own_{own}"),
            _ if leading_word(own) == own => continue,
            _ => own.replace(['-', '.', '/'], "_"),
        };
        faults.push(relation.place.says(format!(
            "`{own}` of `{name}` is not a name of letters, digits and `_`, other than `id` and `type`; {rename}, \
             for example to `{renamed}`"
        )));
    }
    faults
}

/// Returns the names of the conditions that relations use, each with a relation that does.
fn used_conditions(model: &Model) -> impl Iterator<Item = (&ModelRelation, &str)> {
    let relations = model.types.iter().flat_map(|one| &one.relations);
    relations.flat_map(|relation| {
        let used = relation.rewrite.restrictions().iter();
        used.filter_map(move |one| Some((relation, one.condition.as_deref()?)))
    })
}

fn unknown_conditions(model: &Model) -> Vec<String> {
    let unknown = used_conditions(model)
        .filter(|(_, name)| model.conditions.iter().all(|one| one.name != *name));
    let said = unknown.map(|(relation, name)| {
        relation.place.says(format!("the {} has no condition `{name}`", model.system.model))
    });
    said.collect()
}

/// Reads the line that a relation becomes.
fn definition(relation: &ModelRelation) -> Result<RelationDefinition, String> {
    let line = line::text(&relation.rewrite);
    let json = Json::Object(vec![((&*relation.name).into(), Json::String((&*line).into()))]);
    let (mut problems, root) = (Problems::default(), Pointer::root());
    let read = read_relations(&json, &root, &mut problems);
    let read = problems.finish(read).map_err(|invalid| {
        let faults = invalid.problems().iter().map(|one| one.fault.to_string());
        format!("as `{line}`: {}", faults.collect::<Vec<_>>().join("; "))
    })?;
    read.into_iter().next().ok_or_else(|| "the relation is missing".to_owned())
}

/// Returns what a schema says about a relation, at its line.
fn said(
    model: &Model,
    relations: &[Vec<(RelationNumber, RelationDefinition)>],
    Problem { path, fault }: &Problem,
) -> String {
    let mut parts = path.split('/').skip(1);
    let index = parts.next().and_then(|index| index.parse::<usize>().ok());
    let Some((index, one)) = index.and_then(|index| Some((index, model.types.get(index)?))) else {
        return fault.to_string();
    };
    // The path is `/<index>/relations/<name>`.
    let name = parts.nth(1);
    let found = one.relations.iter().zip(&relations[index]);
    let Some((relation, (_, definition))) =
        found.into_iter().find(|(relation, _)| name == Some(&*relation.name))
    else {
        return one.place.says(fault.to_string());
    };
    match fault {
        Fault::Token { token, .. } if token == "!" => relation.place.says(format!(
            "`{}` leads back to `{}` of `{}`; subtract a relation that does not depend on it",
            model.system.except, relation.name, one.name
        )),
        fault => relation.place.says(format!("as `{}`: {fault}", definition.line)),
    }
}
