//! The names of types and relations, and what can be stored.

use std::ops::Range;

use super::terms::{RelationId, RelationNumber, Storable, TypeId};
use crate::claim_source::ClaimSource;

/// The types and relations of a schema, in the order of their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) types: Vec<TypeEntry>,
    pub(crate) relations: Vec<RelationEntry>,
    /// The relations that a claim of the caller's token gives, each with the claim.
    pub(crate) claims: Vec<(RelationId, ClaimSource)>,
    /// The relations for whose stored edges an attribute of the resource stands, each with the attribute.
    pub(crate) requests: Vec<(RelationId, Box<str>)>,
}

/// A type.
#[derive(Debug)]
pub(crate) struct TypeEntry {
    pub(crate) name: Box<str>,
    pub(crate) relations: Range<u32>,
}

/// A relation of a type.
#[derive(Debug)]
pub(crate) struct RelationEntry {
    pub(crate) name: Box<str>,
    pub(crate) of_type: TypeId,
    pub(crate) number: RelationNumber,
    /// The subjects that can be stored; empty if nothing can.
    pub(crate) stored: Box<[Storable]>,
    /// The types of the objects, if the whole line is `[types]`, without usersets and `*`.
    pub(crate) leads_to: Option<Box<[TypeId]>>,
}

impl Names {
    pub(crate) fn type_id(&self, name: &str) -> Option<TypeId> {
        let index = self.types.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        TypeId::try_from(index).ok()
    }

    pub(crate) fn relation(&self, of_type: TypeId, name: &str) -> Option<RelationId> {
        let range = self.types[of_type as usize].relations.clone();
        let entries = &self.relations[range.start as usize..range.end as usize];
        let index = entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        Some(RelationId(range.start + u32::try_from(index).ok()?))
    }

    pub(crate) fn entry(&self, relation: RelationId) -> &RelationEntry {
        &self.relations[relation.0 as usize]
    }

    /// Returns a relation with its number.
    pub(crate) fn numbered(&self, relation: RelationId) -> (RelationId, RelationNumber) {
        (relation, self.entry(relation).number)
    }

    pub(crate) fn relations_of(&self, of_type: TypeId) -> impl Iterator<Item = RelationId> + use<> {
        self.types[of_type as usize].relations.clone().map(RelationId)
    }

    pub(crate) fn type_name(&self, type_id: TypeId) -> &str {
        &self.types[type_id as usize].name
    }
}
