//! The question of a search, and its candidates.

use crate::attributes::AttributeMap;
use crate::entities::{EntityProperties, EntityTable};
use crate::json::Json;
use crate::request::Check;
use crate::roles::Roles;

/// The part of a request that a search leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Searched {
    /// `resource.*`.
    Resource,
    /// `request.subject`, `request.roles` and `user.*`.
    Subject,
}

/// The known part of the requests of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchInput<'c> {
    /// The check without the searched part. Its attributes of the searched part hold for every candidate that has no other.
    pub check: &'c Check<'c>,
    /// The searched part.
    pub searched: Searched,
    /// The entities to which references of candidates lead, if there are some.
    pub entities: Option<&'c EntityTable>,
    /// Whether the request gives the candidates, with attributes that replace the check's.
    pub is_given: bool,
}

/// A candidate of a search: it completes the known part to a check.
#[derive(Clone, Copy, Debug)]
pub struct SearchCandidate<'e> {
    /// The id: `resource.id`, or the subject as rules name it.
    pub id: &'e str,
    /// The roles of a subject.
    pub roles: Roles<'e>,
    /// The attributes that the request gives with the candidate. Only for a search of given candidates.
    pub given: AttributeMap<'e>,
    /// The properties that the directory has of the candidate.
    pub stored: AttributeMap<'e>,
    /// The claims of a subject that is the caller.
    pub claims: Option<&'e Json<'e>>,
}

impl<'e> SearchCandidate<'e> {
    /// Makes a candidate from a stored object.
    pub fn for_resource(id: &'e str, properties: EntityProperties<'e>) -> Self {
        Self::for_subject(id, Roles::Listed(&[]), properties)
    }

    /// Makes a candidate from a stored subject.
    pub fn for_subject(id: &'e str, roles: Roles<'e>, properties: EntityProperties<'e>) -> Self {
        let stored = AttributeMap::from_entity(properties);
        Self { id, roles, given: AttributeMap::default(), stored, claims: None }
    }
}
