//! One entity of a table, borrowed.

use std::borrow::Cow;
use std::fmt;

use super::postings::Row;
use super::segment::Segment;
use crate::value::AttributeValue;

/// The type of subjects whose id alone is their principal (`docs/semantics.md`, section 2.3).
pub const USER: &str = "user";

/// Returns the principal of a subject of this type and id: the id of a user, `<type>:<id>` of any other.
pub fn principal<'t>(entity_type: &str, id: &'t str) -> Cow<'t, str> {
    match entity_type {
        USER => Cow::Borrowed(id),
        other => Cow::Owned(format!("{other}:{id}")),
    }
}

/// An entity of a table.
#[derive(Clone, Copy)]
pub struct Entity<'t> {
    pub(super) segment: &'t Segment,
    pub(super) row: Row,
}

impl<'t> Entity<'t> {
    /// Returns the type.
    pub fn entity_type(self) -> &'t str {
        self.segment.pool.texts.get(self.segment.rows[self.row as usize].entity_type)
    }

    /// Returns the id.
    pub fn id(self) -> &'t str {
        self.segment.id(self.row)
    }

    /// Returns the principal of the entity as a subject.
    pub fn principal(self) -> Cow<'t, str> {
        principal(self.entity_type(), self.id())
    }

    /// Returns the roles in every domain.
    pub fn roles(self) -> impl Iterator<Item = &'t str> {
        self.segment
            .record(self.row)
            .roles
            .iter()
            .map(move |role| self.segment.pool.texts.get(*role))
    }

    /// Returns the roles in single domains: domain and role.
    pub fn domain_roles(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        let pairs = self.segment.record(self.row).domain_roles.iter();
        pairs.map(move |[domain, role]| {
            (self.segment.pool.texts.get(*domain), self.segment.pool.texts.get(*role))
        })
    }

    /// Returns the roles in `domain`: those in every domain, then those in this one.
    pub fn roles_in(self, domain: &str) -> impl Iterator<Item = &'t str> {
        let own = self.domain_roles().filter(move |(of, _)| *of == domain);
        self.roles().chain(own.map(|(_, role)| role))
    }

    /// Returns the properties.
    pub fn properties(self) -> EntityProperties<'t> {
        EntityProperties(self)
    }
}

impl fmt::Debug for Entity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entity")
            .field("entity_type", &self.entity_type())
            .field("id", &self.id())
            .field("roles", &self.roles().collect::<Vec<_>>())
            .field("domain_roles", &self.domain_roles().collect::<Vec<_>>())
            .field("properties", &self.properties())
            .finish()
    }
}

/// The properties of an entity, as the attributes of a check. Each name occurs once.
#[derive(Clone, Copy)]
pub struct EntityProperties<'t>(Entity<'t>);

impl<'t> EntityProperties<'t> {
    /// Returns the number of properties.
    pub fn len(self) -> usize {
        self.words().len()
    }

    /// Returns whether there are no properties.
    pub fn is_empty(self) -> bool {
        self.words().is_empty()
    }

    /// Returns each name and value.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'t str, AttributeValue<'t>)> {
        let segment = self.0.segment;
        let words = self.words().iter();
        words.map(move |[name, value]| (segment.pool.texts.get(*name), segment.value(*value)))
    }

    /// Returns the words of each name and value.
    #[inline]
    fn words(self) -> &'t [[u32; 2]] {
        self.0.segment.record(self.0.row).properties
    }

    /// Returns the value of the property `name`.
    // Copied into its callers, so that a value is not stored and read again on the way.
    #[inline(always)]
    pub fn get(self, name: &str) -> Option<AttributeValue<'t>> {
        let segment = self.0.segment;
        let mut words = self.words().iter();
        let [_, value] = words.find(|[own, _]| segment.pool.texts.get(*own) == name)?;
        Some(segment.value(*value))
    }
}

impl fmt::Debug for EntityProperties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
