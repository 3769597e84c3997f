//! A candidate of a search.

use crate::attributes::AttributeMap;
use crate::entities::EntityProperties;
use crate::roles::Roles;

/// A candidate of a search: it completes the known part to a check.
#[derive(Clone, Copy, Debug)]
pub struct SearchCandidate<'e> {
    /// The id: `resource.id`, or the subject as rules name it.
    pub id: &'e str,
    /// The roles of a subject.
    pub roles: Roles<'e>,
    /// The attributes that hold where the check has none.
    pub fallback: AttributeMap<'e>,
    /// Overrides, applied in order; later maps win. Only for a search with overrides.
    pub overriding: [AttributeMap<'e>; 2],
}

impl<'e> SearchCandidate<'e> {
    /// Makes a candidate from a stored object.
    pub fn of_resource(id: &'e str, properties: EntityProperties<'e>) -> Self {
        Self::of_subject(id, Roles::Listed(&[]), properties)
    }

    /// Makes a candidate from a stored subject.
    pub fn of_subject(id: &'e str, roles: Roles<'e>, properties: EntityProperties<'e>) -> Self {
        let fallback = AttributeMap::of_entity(properties);
        Self { id, roles, fallback, overriding: Default::default() }
    }
}
