//! Expressions of permissions, and the rewrites that they become.

use std::collections::HashSet;

use crate::relations::model::{ModelRelation, ModelType, Restriction, Rewrite};
use crate::relations::place::Place;

/// The expression of a permission, or the types of a relation.
#[derive(Debug)]
pub(super) enum Expression {
    /// `nil`: nobody.
    Nil,
    /// The types of a relation.
    Direct(Vec<Restriction>),
    Computed(String),
    /// `parents->relation`.
    Arrow {
        parents: String,
        relation: String,
    },
    Any(Vec<Expression>),
    All(Vec<Expression>),
    /// The first without the second.
    Except(Box<Expression>, Box<Expression>),
}

/// A definition as its text says it.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) members: Vec<Member>,
}

/// A relation or permission.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) expression: Expression,
}

/// The permissions that nobody can have: the names of the type and the permission.
pub(super) type Unfilled = HashSet<(String, String)>;

/// Returns the types of definitions, and the permissions that nobody can have: they are left out, and wherever they occur
/// in others.
pub(super) fn types(definitions: Vec<Definition>) -> (Vec<ModelType>, Unfilled) {
    let mut schema = Definitions { all: definitions, unfilled: Unfilled::new() };
    loop {
        let found: Unfilled = schema
            .all
            .iter()
            .flat_map(|of| of.members.iter().map(move |member| (of, member)))
            .filter(|(of, member)| schema.folded(&member.expression, of).is_none())
            .map(|(of, member)| (of.name.clone(), member.name.clone()))
            .collect();
        if found.len() == schema.unfilled.len() {
            break;
        }
        schema.unfilled = found;
    }
    let types = schema.all.iter().map(|of| {
        let relations = of.members.iter().filter_map(|member| {
            let rewrite = schema.folded(&member.expression, of)?;
            Some(ModelRelation { name: member.name.clone(), place: member.place.clone(), rewrite })
        });
        let (name, place) = (of.name.clone(), of.place.clone());
        ModelType { name, place, relations: relations.collect() }
    });
    (types.collect(), schema.unfilled)
}

/// The definitions of a schema.
struct Definitions {
    all: Vec<Definition>,
    /// Those that are known so far.
    unfilled: Unfilled,
}

impl Definitions {
    /// Returns the rewrite of an expression of the definition `of`; `None` if nobody can be meant.
    fn folded(&self, expression: &Expression, of: &Definition) -> Option<Rewrite> {
        let fold = |one: &Expression| self.folded(one, of);
        match expression {
            Expression::Nil => None,
            Expression::Direct(types) => Some(Rewrite::Direct(types.clone())),
            Expression::Computed(name) => {
                (!self.is_unfilled(&of.name, name)).then(|| Rewrite::Computed(name.clone()))
            }
            Expression::Arrow { parents, relation } => {
                let is_reached = of.leads_to(parents).is_none_or(|types| {
                    types.iter().any(|one| self.is_filled(&one.user_type, relation))
                });
                let (relation, parents) = (relation.clone(), parents.clone());
                is_reached.then_some(Rewrite::From { relation, parents })
            }
            Expression::Any(parts) => {
                let mut parts: Vec<Rewrite> = parts.iter().filter_map(fold).collect();
                if parts.len() > 1 { Some(Rewrite::Any(parts)) } else { parts.pop() }
            }
            Expression::All(parts) => {
                parts.iter().map(fold).collect::<Option<Vec<_>>>().map(Rewrite::All)
            }
            Expression::Except(base, subtracted) => {
                let base = fold(base)?;
                Some(match fold(subtracted) {
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
        let found = self.all.iter().find(|one| one.name == of_type);
        let is_there = found.is_some_and(|one| one.members.iter().any(|own| own.name == *relation));
        is_there && !self.is_unfilled(of_type, relation)
    }
}

impl Definition {
    /// Returns the types of the relation `name`; `None` if there is no such relation.
    fn leads_to(&self, name: &str) -> Option<&[Restriction]> {
        let found = self.members.iter().find(|own| own.name == name)?;
        match &found.expression {
            Expression::Direct(types) => Some(types),
            _ => None,
        }
    }
}
