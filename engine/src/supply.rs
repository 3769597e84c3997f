//! The part of a check that the directory supplies (`docs/semantics.md`, section 12.5).

use crate::attributes::{AttributeMap, LayeredAttributes};
use crate::entities::{Entity, EntityTable, USER};
use crate::request::Check;
use crate::resource::object_of;
use crate::roles::Roles;
use crate::tenant_facts::{Precedence, TenantFacts};
use crate::value::AttributeValue;

/// The attributes of a resource that find its entity. Only requests have them.
const KEYS: [&str; 2] = ["id", "type"];

/// The parts of the directory that a plan can need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryNeeds {
    /// The roles of the subject.
    pub roles: bool,
    /// The properties of the subject.
    pub user: bool,
    /// The properties of the resource.
    pub resource: bool,
}

impl DirectoryNeeds {
    /// Returns whether the directory is needed at all.
    pub fn any(self) -> bool {
        self.roles || self.user || self.resource
    }
}

/// The entities of a check that the directory knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownEntities<'t> {
    /// The subject.
    pub subject: Option<Entity<'t>>,
    /// The entity that `resource.type` and `resource.id` name.
    pub resource: Option<Entity<'t>>,
}

impl<'t> KnownEntities<'t> {
    /// Finds the entities of `check` in `table`, as far as they are needed.
    pub fn find(table: &'t EntityTable, check: &Check<'_>, needs: DirectoryNeeds) -> Self {
        let subject = (needs.roles || needs.user).then(|| find_subject(table, check.subject));
        let resource = needs.resource.then(|| find_resource(table, check));
        Self { subject: subject.flatten(), resource: resource.flatten() }
    }
}

/// Finds the entity with this principal: a user by its id, any other by `<type>:<id>`. At most one entity has it.
fn find_subject<'t>(table: &'t EntityTable, principal: &str) -> Option<Entity<'t>> {
    table.get(USER, principal).or_else(|| {
        let (kind, id) = principal.split_once(':').filter(|(kind, _)| *kind != USER)?;
        table.get(kind, id)
    })
}

fn find_resource<'t>(table: &'t EntityTable, check: &Check<'_>) -> Option<Entity<'t>> {
    let sent = |name| match check.attributes.resource.get(name) {
        Some(AttributeValue::Text(text)) => Some(text),
        _ => None,
    };
    table.get(sent("type").unwrap_or(object_of(check.resource)), sent("id")?)
}

/// The roles of the subject, with those that they include.
#[derive(Debug)]
struct SuppliedRoles<'s> {
    all: Vec<&'s str>,
    /// Whether some may come from the directory.
    is_stored: bool,
}

/// The values that are supplied to one check, in memory that the check borrows.
#[derive(Debug)]
pub struct Supply<'s> {
    roles: Option<SuppliedRoles<'s>>,
    user: Option<LayeredAttributes<'s>>,
    resource: Option<LayeredAttributes<'s>>,
}

impl<'s> Supply<'s> {
    /// Collects what `known` has for `check`. Expands the roles by those that they include, if that is `needed`.
    pub fn new(
        facts: &'s TenantFacts,
        known: KnownEntities<'s>,
        check: &Check<'s>,
        needs: DirectoryNeeds,
    ) -> Self {
        let precedence = facts.directory.unwrap_or_default();
        let layered = |sent, entity: Option<Entity<'s>>, only_sent| {
            let stored = entity?.properties();
            Some(LayeredAttributes::new(sent, stored, precedence, only_sent))
        };
        let subject = known.subject.filter(|_| needs.user);
        Self {
            roles: needs.roles.then(|| roles(facts, known.subject, check)).flatten(),
            user: layered(check.attributes.user, subject, &[]),
            resource: layered(check.attributes.resource, known.resource, &KEYS),
        }
    }

    /// Returns whether attributes are supplied.
    pub fn has_attributes(&self) -> bool {
        self.user.is_some() || self.resource.is_some()
    }

    /// Returns `check` with what is supplied.
    pub fn complete(&'s self, mut check: Check<'s>) -> Check<'s> {
        if let Some(roles) = &self.roles {
            check.roles = match roles.is_stored {
                true => Roles::Stored(&roles.all),
                false => Roles::Listed(&roles.all),
            };
        }
        if let Some(user) = &self.user {
            check.attributes.user = AttributeMap::of_layers(user);
        }
        if let Some(resource) = &self.resource {
            check.attributes.resource = AttributeMap::of_layers(resource);
        }
        check
    }
}

/// Returns the roles of the subject, and those that they include; `None` if they are those of the check.
fn roles<'s>(
    facts: &'s TenantFacts,
    subject: Option<Entity<'s>>,
    check: &Check<'s>,
) -> Option<SuppliedRoles<'s>> {
    let sent = || {
        let all = facts.inclusions.expand(check.roles.iter());
        (!facts.inclusions.is_empty()).then_some(SuppliedRoles { all, is_stored: false })
    };
    let Some(subject) = subject else { return sent() };
    let is_left_out =
        matches!(check.roles, Roles::Supplied(_)) && !check.attributes.user.has("roles");
    if is_left_out || facts.directory == Some(Precedence::Directory) {
        let all = facts.inclusions.expand(subject.roles_in(check.domain));
        return Some(SuppliedRoles { all, is_stored: true });
    }
    let here = subject.domain_roles().filter(|(domain, _)| *domain == check.domain);
    let mut here = here.map(|(_, role)| role).peekable();
    if !matches!(check.roles, Roles::Claimed(_)) || here.peek().is_none() {
        return sent();
    }
    let all = facts.inclusions.expand(check.roles.iter().chain(here));
    Some(SuppliedRoles { all, is_stored: true })
}

#[cfg(test)]
mod tests;
