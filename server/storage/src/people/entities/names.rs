//! The names of roles and the principals of entities. No entity has a principal that is the name of a role, and no two
//! entities have the same one: rules match both by these strings (`docs/semantics.md`, section 12.3).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use portcullis_engine::entities::USER;
use portcullis_model::entity::NewEntity;
use portcullis_model::relation::ObjectName;

use super::found::{StoredEntity, find_stored, name_of};
use crate::content::roles;
use crate::transactions::error::StoreError;
use crate::transactions::macros::execute;
use crate::transactions::row_lists::{LookUp, Rows, among, write_rows};
use crate::transactions::tx::Tx;

const COUNTS: Rows = Rows {
    head: "INSERT INTO entity_roles (tenant_id, name, holders)",
    values: 2,
    tail: "ON CONFLICT (tenant_id, name) DO UPDATE SET \
        holders = entity_roles.holders + excluded.holders",
};

/// The names of roles that entities have.
pub(crate) const HELD: LookUp =
    LookUp { table: "entity_roles", key: &[("name", "TEXT")], columns: "r.name", names: "name" };

/// The changes of the number of entities that have each role.
#[derive(Debug, Default)]
pub(super) struct RoleCounts(BTreeMap<String, i64>);

impl RoleCounts {
    /// Counts the roles of a new entity.
    pub(super) fn add<'r>(&mut self, roles: impl Iterator<Item = &'r str>) {
        // Each role once, also if the entity has it in several domains.
        for role in roles.collect::<BTreeSet<_>>() {
            *self.0.entry(role.to_owned()).or_default() += 1;
        }
    }

    /// Counts the roles of an entity that is gone.
    pub(super) fn remove(&mut self, stored: &StoredEntity) -> Result<(), StoreError> {
        for role in stored.every_role()?.into_iter().collect::<BTreeSet<_>>() {
            *self.0.entry(role).or_default() -= 1;
        }
        Ok(())
    }

    /// Adds the changes to the stored numbers.
    pub(super) async fn store(self, tx: &mut Tx) -> Result<(), StoreError> {
        const UNUSED: &str = "DELETE FROM entity_roles WHERE tenant_id = $1 AND holders <= 0";
        let changes: Vec<(String, i64)> =
            self.0.into_iter().filter(|(_, change)| *change != 0).collect();
        write_rows!(tx, COUNTS, changes, change => &change.0, change.1);
        if changes.iter().any(|(_, change)| *change < 0) {
            execute!(tx, UNUSED, &tx.tenant)?;
        }
        Ok(())
    }
}

/// A principal that would stand for two things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameClash {
    /// The entity with this index has the name of a role as its principal.
    EntityIsRole(usize),
    /// The entity with this index has the principal of another entity.
    EntityIsEntity(usize),
    /// This role has the name of an entity's principal.
    RoleIsEntity(String),
}

/// Returns the first clash that writing `entities` would make.
pub async fn clash(tx: &mut Tx, entities: &[NewEntity]) -> Result<Option<NameClash>, StoreError> {
    let principals: Vec<String> =
        entities.iter().map(|entity| entity.principal().into_owned()).collect();
    let own_roles: BTreeSet<&str> = entities.iter().flat_map(NewEntity::every_role).collect();
    let included = roles::names(tx).await?;
    let names: Vec<&str> = principals.iter().map(String::as_str).collect();
    let held = among(tx, HELD, &names).await?;
    let is_role =
        |name: &str| own_roles.contains(name) || included.contains(name) || held.contains(name);
    if let Some(index) = principals.iter().position(|principal| is_role(principal)) {
        return Ok(Some(NameClash::EntityIsRole(index)));
    }
    if let Some(index) = twin(tx, entities, &principals).await? {
        return Ok(Some(NameClash::EntityIsEntity(index)));
    }
    // A role that is known was compared when it came.
    let own: Vec<&str> = own_roles.iter().copied().collect();
    let known = among(tx, HELD, &own).await?;
    let new: Vec<&str> = own_roles.into_iter().filter(|role| !known.contains(*role)).collect();
    clash_of_roles(tx, &new).await
}

/// Returns the first of these roles that has the name of an entity's principal.
pub async fn clash_of_roles(tx: &mut Tx, roles: &[&str]) -> Result<Option<NameClash>, StoreError> {
    let keys: HashMap<ObjectName, &str> =
        roles.iter().flat_map(|role| keys_of(role).map(move |key| (key, *role))).collect();
    let found = find_stored(tx, keys.keys().cloned().collect()).await?;
    let live = found.iter().find(|(_, stored)| !stored.is_deleted);
    let role = live.and_then(|(key, _)| keys.get(key));
    Ok(role.map(|role| NameClash::RoleIsEntity((*role).to_owned())))
}

/// Returns the index of the first entity whose principal is also another entity's, in `entities` or stored.
async fn twin(
    tx: &mut Tx,
    entities: &[NewEntity],
    principals: &[String],
) -> Result<Option<usize>, StoreError> {
    let mut twins = HashMap::new();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, (entity, principal)) in entities.iter().zip(principals).enumerate() {
        if seen.insert(principal, index).is_some() {
            return Ok(Some(index));
        }
        let own = name_of(entity);
        // The entity itself may be stored already: only another one with its principal is a twin.
        twins.extend(keys_of(principal).filter(|key| *key != own).map(|key| (key, index)));
    }
    let found = find_stored(tx, twins.keys().cloned().collect()).await?;
    let live = found.iter().filter(|(_, stored)| !stored.is_deleted);
    Ok(live.filter_map(|(key, _)| twins.get(key).copied()).min())
}

/// Returns the keys of the entities whose principal `name` can be.
fn keys_of(name: &str) -> impl Iterator<Item = ObjectName> {
    // The principal of a user is its id alone.
    let other = name.split_once(':').filter(|(kind, _)| *kind != USER);
    let user = ObjectName::new(USER, name);
    std::iter::once(user).chain(other.map(|(kind, id)| ObjectName::new(kind, id)))
}
