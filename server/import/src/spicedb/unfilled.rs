//! Permissions that nobody can have.

use std::collections::HashSet;

use crate::relations::model::{ModelRelation, ModelType, Restriction, Rewrite};

/// The permissions that nobody can have: the names of the type and the permission.
pub(super) type Unfilled = HashSet<(String, String)>;

/// Leaves out the permissions that nobody can have, and wherever they occur in others. Returns them.
pub(super) fn leave_out(types: &mut [ModelType]) -> Unfilled {
    let mut schema = FoldedSchema { types, unfilled: Unfilled::new() };
    // Each permission that is found may leave another with nobody, so this goes on until none is new.
    loop {
        let found: Unfilled = schema
            .types
            .iter()
            .flat_map(|of| of.relations.iter().map(move |own| (of, own)))
            .filter(|(of, own)| schema.folded(&own.rewrite, of).is_none())
            .map(|(of, own)| (of.name.clone(), own.name.clone()))
            .collect();
        // The set only grows, so that sets of one length are equal.
        if found.len() == schema.unfilled.len() {
            break;
        }
        schema.unfilled = found;
    }
    let rewrites: Vec<_> = schema.types.iter().map(|of| schema.folded_relations(of)).collect();
    let unfilled = schema.unfilled;
    for (of, rewrites) in types.iter_mut().zip(rewrites) {
        let relations = std::mem::take(&mut of.relations).into_iter().zip(rewrites);
        let filled =
            relations.filter_map(|(own, rewrite)| Some(ModelRelation { rewrite: rewrite?, ..own }));
        of.relations = filled.collect();
    }
    unfilled
}

/// The types of a schema.
struct FoldedSchema<'t> {
    types: &'t [ModelType],
    /// The unfilled permissions that are known so far.
    unfilled: Unfilled,
}

impl FoldedSchema<'_> {
    fn folded_relations(&self, of: &ModelType) -> Vec<Option<Rewrite>> {
        of.relations.iter().map(|own| self.folded(&own.rewrite, of)).collect()
    }

    /// Returns a rewrite of the type `of` without what nobody can have; `None` if nothing is left.
    fn folded(&self, rewrite: &Rewrite, of: &ModelType) -> Option<Rewrite> {
        match rewrite {
            Rewrite::Nobody => None,
            Rewrite::Direct(types) => Some(Rewrite::Direct(types.clone())),
            Rewrite::Computed(name) => {
                (!self.is_unfilled(&of.name, name)).then(|| Rewrite::Computed(name.clone()))
            }
            Rewrite::From { relation, parents } => {
                // What is not a relation of the type stays, and is refused with its place later.
                let is_reached = leads_to(of, parents).is_none_or(|types| {
                    types.iter().any(|one| self.is_filled(&one.user_type, relation))
                });
                let (relation, parents) = (relation.clone(), parents.clone());
                is_reached.then_some(Rewrite::From { relation, parents })
            }
            Rewrite::Any(parts) => {
                let mut parts: Vec<_> =
                    parts.iter().filter_map(|part| self.folded(part, of)).collect();
                if parts.len() > 1 { Some(Rewrite::Any(parts)) } else { parts.pop() }
            }
            Rewrite::All(parts) => {
                let parts = parts.iter().map(|part| self.folded(part, of));
                parts.collect::<Option<Vec<_>>>().map(Rewrite::All)
            }
            Rewrite::Except(base, subtracted) => {
                let base = self.folded(base, of)?;
                Some(match self.folded(subtracted, of) {
                    Some(subtracted) => Rewrite::Except(Box::new(base), Box::new(subtracted)),
                    None => base,
                })
            }
        }
    }

    fn is_unfilled(&self, of_type: &str, relation: &str) -> bool {
        self.unfilled.contains(&(of_type.to_owned(), relation.to_owned()))
    }

    /// Returns whether a type has a relation that somebody can have.
    fn is_filled(&self, of_type: &str, relation: &str) -> bool {
        let found = self.types.iter().find(|one| one.name == of_type);
        let is_there =
            found.is_some_and(|one| one.relations.iter().any(|own| own.name == *relation));
        is_there && !self.is_unfilled(of_type, relation)
    }
}

/// Returns the types of the relation `name`; `None` if there is no such relation.
fn leads_to<'t>(of: &'t ModelType, name: &str) -> Option<&'t [Restriction]> {
    let found = of.relations.iter().find(|own| own.name == name)?;
    match &found.rewrite {
        Rewrite::Direct(types) => Some(types),
        _ => None,
    }
}
