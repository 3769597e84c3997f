//! The part of a check that the directory supplies (`docs/semantics.md`, section 12.5).

use crate::attributes::{AttributeMap, LayeredAttributes, RelatedEntities};
use crate::entities::{Entity, EntityTable, USER};
use crate::property_sources::TypeSources;
use crate::request::Check;
use crate::resource::object_of;
use crate::roles::Roles;
use crate::tenant_facts::{Precedence, TenantFacts};
use crate::types::{KEYS, PropertySource};
use crate::value::AttributeValue;

/// The parts of the directory that a plan can need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryNeeds {
    /// The roles of the subject.
    pub roles: bool,
    /// The properties of the subject.
    pub user: bool,
    /// The properties of the resource.
    pub resource: bool,
    /// The relations of the subject.
    pub relations: bool,
    /// Whether a subject that the directory does not know has no roles.
    pub withholds_roles: bool,
}

impl DirectoryNeeds {
    /// Returns whether the directory is needed at all.
    pub fn any(self) -> bool {
        self.roles || self.user || self.resource || self.relations
    }
}

/// The entities of a check that the directory knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownEntities<'t> {
    /// The subject.
    pub subject: Option<Entity<'t>>,
    /// The entity that `resource.type` and `resource.id` name.
    pub resource: Option<Entity<'t>>,
    /// The roles of the subject itself, if somebody noted them as they were: then nothing else has a say.
    pub roles: Option<Roles<'t>>,
}

impl<'t> KnownEntities<'t> {
    /// Finds the entities of `check` in `table`, as far as they are needed.
    pub fn find(table: &'t EntityTable, check: &Check<'_>, needs: DirectoryNeeds) -> Self {
        let subject = (needs.roles || needs.user).then(|| find_subject(table, check.subject));
        let resource = needs.resource.then(|| find_resource(table, check));
        let subject = subject.flatten();
        let is_withheld = needs.roles
            && needs.withholds_roles
            && subject.is_none()
            && lacks_subject(table, check.subject_type, check.subject);
        let roles = is_withheld.then_some(Roles::Withheld);
        Self { subject, resource: resource.flatten(), roles }
    }
}

/// Returns whether a subject that is not an entity of `table` should be one: it is a user, or of a type that the table has.
/// `subject_type` is its type, if the request names it.
pub fn lacks_subject(table: &EntityTable, subject_type: Option<&str>, principal: &str) -> bool {
    let kind = type_of_subject(subject_type, principal);
    // A cell of a matrix is about nobody in particular.
    !principal.is_empty() && (kind == USER || table.has_type(kind))
}

/// Returns the type of a subject: the one that the request names, or else the one that its principal reads as.
pub fn type_of_subject<'s>(subject_type: Option<&'s str>, principal: &'s str) -> &'s str {
    subject_type.unwrap_or_else(|| principal.split_once(':').map_or(USER, |(kind, _)| kind))
}

/// Finds the entity with this principal: a user by its id, any other by `<type>:<id>`. At most one entity has it.
pub fn find_subject<'t>(table: &'t EntityTable, principal: &str) -> Option<Entity<'t>> {
    table.get(USER, principal).or_else(|| {
        // A user has its bare id as principal, so that `user:ann` is not the user `ann`.
        let (kind, id) = principal.split_once(':').filter(|(kind, _)| *kind != USER)?;
        table.get(kind, id)
    })
}

fn find_resource<'t>(table: &'t EntityTable, check: &Check<'_>) -> Option<Entity<'t>> {
    let (entity_type, id) = check.resource_named()?;
    table.get(entity_type, id)
}

impl<'r> Check<'r> {
    /// Returns the type and id of the resource; `None` if the request has no id that is a text.
    pub fn resource_named(&self) -> Option<(&'r str, &'r str)> {
        Some((self.resource_type(), sent_text(self, "id")?))
    }

    /// Returns the type of the resource: the one that the request sent, or else the name in `resource`.
    pub fn resource_type(&self) -> &'r str {
        type_of_resource(self.attributes.resource, self.resource)
    }
}

/// Returns the type of a resource: the one that its attributes as they were sent name, or else the name in `resource`. A value
/// that is not a text names a type that nobody declares: the empty text.
pub fn type_of_resource<'r>(sent: AttributeMap<'r>, resource: &'r str) -> &'r str {
    match sent.get("type") {
        Some(AttributeValue::Text(text)) => text,
        Some(_) => "",
        None => object_of(resource),
    }
}

/// Returns the attribute `name` of the resource that the request sent, if it is a text.
fn sent_text<'r>(check: &Check<'r>, name: &str) -> Option<&'r str> {
    match check.attributes.resource.get(name) {
        Some(AttributeValue::Text(text)) => Some(text),
        _ => None,
    }
}

/// The roles of the subject, with those that they include.
#[derive(Debug)]
struct SuppliedRoles<'s> {
    all: Vec<&'s str>,
    /// The number of the first of `all` that are not only included.
    own: usize,
    origin: RoleOrigin,
}

/// The place that supplied roles come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoleOrigin {
    /// The request or the token.
    Sent,
    /// The directory, at least for some.
    Stored,
    /// There are none, because the directory does not know the subject.
    Withheld,
}

/// The entities to which references lead, and the names of users and of resources that may lead there, by layers of a plan.
pub(crate) type RelatedNames<'s> = (&'s EntityTable, [[&'s [Box<str>]; 2]; 2]);

/// The values that are supplied to one check, in memory that the check borrows.
#[derive(Debug)]
pub struct Supply<'s> {
    roles: Option<SuppliedRoles<'s>>,
    user: Option<LayeredAttributes<'s>>,
    resource: Option<LayeredAttributes<'s>>,
}

impl<'s> Supply<'s> {
    /// Collects what `known` has for `check`, and what the entities have to which references lead. Expands the roles by those
    /// that they include, if that is `needed`.
    pub(crate) fn new(
        facts: &'s TenantFacts,
        (known, related): (KnownEntities<'s>, Option<RelatedNames<'s>>),
        check: &Check<'s>,
        needs: DirectoryNeeds,
    ) -> Self {
        let subject = known.subject.filter(|_| needs.user);
        let roles = needs.roles.then(|| roles(facts, known, check)).flatten();
        let [of_user, of_resource] = [0, 1].map(|which| {
            related.map(|(table, names)| RelatedEntities { table, names: names[which] })
        });
        let user = needs.user.then(|| user(facts, (subject, of_user), check)).flatten();
        let resource = (known.resource, of_resource);
        let resource = needs.resource.then(|| self::resource(facts, resource, check)).flatten();
        Self { roles, user, resource }
    }

    /// Returns whether attributes are supplied, or known to be absent.
    pub fn has_attributes(&self) -> bool {
        let mut supplied = [&self.user, &self.resource].into_iter().flatten();
        supplied
            .any(|layers| layers.stored.is_some() || layers.is_named || layers.follows_references())
    }

    /// Returns the number of attributes that the request sent and that are taken from another place alone.
    pub fn overridden(&self) -> usize {
        [&self.user, &self.resource].into_iter().flatten().map(LayeredAttributes::overridden).sum()
    }

    /// Returns the number of the first roles of the completed check that are not only included by others; `None` if the
    /// roles come from the check.
    pub fn own_roles(&self) -> Option<usize> {
        self.roles.as_ref().map(|roles| roles.own)
    }

    /// Returns `check` with what is supplied.
    pub(crate) fn complete(&'s self, mut check: Check<'s>) -> Check<'s> {
        if let Some(roles) = &self.roles {
            check.roles = match roles.origin {
                RoleOrigin::Stored => Roles::Stored(&roles.all),
                RoleOrigin::Sent => Roles::Listed(&roles.all),
                RoleOrigin::Withheld => Roles::Withheld,
            };
        }
        if let Some(user) = &self.user {
            check.attributes.user = AttributeMap::from_layers(user);
        }
        if let Some(resource) = &self.resource {
            check.attributes.resource = AttributeMap::from_layers(resource);
        }
        check
    }
}

/// Returns the attributes of the subject; `None` if they all come from the request.
fn user<'s>(
    facts: &'s TenantFacts,
    (subject, related): (Option<Entity<'s>>, Option<RelatedEntities<'s>>),
    check: &Check<'s>,
) -> Option<LayeredAttributes<'s>> {
    let (stored, sources) = (subject.map(Entity::properties), facts.sources.for_user());
    if stored.is_none() && sources.is_empty() {
        return None;
    }
    let is_caller = matches!(check.roles, Roles::Claimed(_));
    Some(LayeredAttributes {
        sent: check.attributes.user.sent(),
        stored,
        related,
        claims: check.claims.filter(|_| is_caller),
        precedence: facts.directory.unwrap_or_default(),
        sources,
        only_sent: &[],
        // A cell of a matrix may be about nobody in particular.
        is_named: !check.subject.is_empty(),
    })
}

/// Returns the attributes of the resource; `None` if they all come from the request.
fn resource<'s>(
    facts: &'s TenantFacts,
    (resource, related): (Option<Entity<'s>>, Option<RelatedEntities<'s>>),
    check: &Check<'s>,
) -> Option<LayeredAttributes<'s>> {
    let (stored, sources) = (resource.map(Entity::properties), facts.sources_of(check));
    if stored.is_none() && sources.is_empty() {
        return None;
    }
    Some(LayeredAttributes {
        sent: check.attributes.resource.sent(),
        stored,
        related,
        // A token has no property of a resource, even if that is a user.
        claims: None,
        precedence: facts.directory.unwrap_or_default(),
        sources,
        only_sent: &KEYS,
        is_named: !sources.is_empty() && sent_text(check, "id").is_some(),
    })
}

impl TenantFacts {
    /// Returns the attribute `name` of the resource as the request sent it: `None` if it sent none, or if the attribute is
    /// taken from another place alone. The value of `null` is `None`.
    pub fn sent_of_resource<'r>(
        &self,
        check: &Check<'r>,
        name: &str,
    ) -> Option<Option<AttributeValue<'r>>> {
        let sent = check.attributes.resource.only_sent();
        (sent.has(name) && self.takes_from_request(check, name)).then(|| sent.get(name))
    }

    /// Returns whether a request may have the attribute `name` of the resource.
    pub fn takes_from_request(&self, check: &Check<'_>, name: &str) -> bool {
        self.sources_of(check).get(name).is_none_or(|source| source == PropertySource::Request)
    }

    /// Returns the sources of the properties of the resource of `check`.
    pub(crate) fn sources_of(&self, check: &Check<'_>) -> TypeSources<'_> {
        if self.sources.is_empty() {
            return TypeSources::default();
        }
        self.sources.for_resource(check.resource_type(), object_of(check.resource))
    }
}

/// Returns the roles of the subject, and the roles that they include; `None` if the roles come from the check.
fn roles<'s>(
    facts: &'s TenantFacts,
    known: KnownEntities<'s>,
    check: &Check<'s>,
) -> Option<SuppliedRoles<'s>> {
    let is_claimed = matches!(check.roles, Roles::Claimed(_));
    if let Some(Roles::Withheld) = known.roles {
        return Some(SuppliedRoles { all: Vec::new(), own: 0, origin: RoleOrigin::Withheld });
    }
    if let Some(noted) = known.roles {
        let (all, own) = facts.inclusions.expand_counted(noted.iter());
        let origin = if is_claimed { RoleOrigin::Sent } else { RoleOrigin::Stored };
        return Some(SuppliedRoles { all, own, origin });
    }
    let Some(subject) = known.subject else { return sent_roles(facts, check) };
    // Where the request says nothing about roles, those of the directory count, whatever goes first.
    let is_left_out =
        matches!(check.roles, Roles::Supplied(_)) && !check.attributes.user.has("roles");
    if is_left_out || facts.directory == Some(Precedence::Directory) {
        let (all, own) = facts.inclusions.expand_counted(subject.roles_in(check.domain));
        return Some(SuppliedRoles { all, own, origin: RoleOrigin::Stored });
    }
    let here = subject.domain_roles().filter(|(domain, _)| *domain == check.domain);
    let mut here = here.map(|(_, role)| role).peekable();
    // Roles that a request sends stand alone: only those of a token are joined with those of the domain.
    if !is_claimed || here.peek().is_none() {
        return sent_roles(facts, check);
    }
    // The roles of a token hold in every domain: the directory adds the roles in this domain.
    let (all, own) = facts.inclusions.expand_counted(check.roles.iter().chain(here));
    Some(SuppliedRoles { all, own, origin: RoleOrigin::Stored })
}

/// Returns the roles of the check with those that they include; `None` if no role includes another.
fn sent_roles<'s>(facts: &'s TenantFacts, check: &Check<'s>) -> Option<SuppliedRoles<'s>> {
    let (all, own) = facts.inclusions.expand_counted(check.roles.iter());
    let origin = RoleOrigin::Sent;
    (!facts.inclusions.is_empty()).then_some(SuppliedRoles { all, own, origin })
}

#[cfg(test)]
mod tests;
