//! The use cases of registered resources (`docs/semantics.md`, sections 3.5 to 3.8).

use portcullis_auth::Manager;
use portcullis_model::Authorship;
use portcullis_model::page::{Listed, Page};
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::rule::RuleRecord;
use portcullis_model::service_key::Permission;
use portcullis_model::warning::Warning;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, resources, rules};
use uuid::Uuid;

use super::registration;
use crate::changes::gated_writes::{self, GatedWrite};
use crate::changes::ownership;
use crate::changes::written::{Stored, Written};

const NOT_FOUND: OperationError = OperationError::NotFound("resource");

/// Most rules that go with a resource: as many as one call can register with default roles. Other writes may wait for
/// the transaction.
const MAX_DELETED_RULES: usize = 10_000;

/// A resource of a bulk registration, and the warning about it.
#[derive(Debug)]
pub struct RegisteredInBulk {
    pub record: ResourceRecord,
    /// At most one.
    pub warnings: Vec<Warning>,
}

/// Registers a resource in the caller's tenant, or replaces the one with the same name.
///
/// # Errors
/// The old or the new registration has default roles and the caller may not write rules, or the store failed.
pub async fn register(
    app: &App,
    caller: &Manager,
    registration: Registration,
    force: bool,
) -> Result<Written<Stored<ResourceRecord>>, OperationError> {
    check_new_roles(caller, &registration)?;
    let written = gated_writes::write(app, caller, async |tx, by| {
        // A gate may want the change made more than once.
        let (record, is_new) =
            register_in(app, tx, caller, registration.clone(), by, force).await?;
        let warnings = warnings_about(&record, is_new || force);
        Ok((Stored { record, is_new }, warnings))
    });
    Ok(written.await?.with_warnings())
}

/// Registers a resource in the transaction's tenant, unless it is managed and its change is not forced. Returns the record,
/// and whether its name was not registered before.
async fn register_in(
    app: &App,
    tx: &mut Tx,
    caller: &Manager,
    registration: Registration,
    by: &Authorship,
    force: bool,
) -> Result<(ResourceRecord, bool), OperationError> {
    check_old_roles(tx, caller, &registration).await?;
    match met_managed(tx, caller, &registration, force).await? {
        Some(record) => Ok((record, false)),
        None => Ok(registration::register(tx, registration, caller.domain(), by, &app.ids).await?),
    }
}

/// Returns the managed resource that has the name of `registration`, unless its change is forced.
async fn met_managed(
    tx: &mut Tx,
    caller: &Manager,
    registration: &Registration,
    force: bool,
) -> Result<Option<ResourceRecord>, OperationError> {
    let stored = resources::find_by_name(tx, &registration.name).await?;
    let Some(stored) = stored.filter(|stored| stored.managed_by.is_some()) else { return Ok(None) };
    if !force {
        return Ok(Some(stored));
    }
    ownership::check(caller, stored.managed_by.as_deref(), force)?;
    Ok(None)
}

/// Returns the warning about a managed resource that a registration met, unless it `is_written`.
fn warnings_about(record: &ResourceRecord, is_written: bool) -> Vec<Warning> {
    let owner = record.managed_by.as_deref().filter(|_| !is_written);
    owner.map(Warning::managed).into_iter().collect()
}

/// Registers all of `registrations` in one transaction, and returns the records in the same order.
///
/// # Errors
/// As for [`register`]; then nothing is written.
pub async fn register_all(
    app: &App,
    caller: &Manager,
    registrations: Vec<Registration>,
    force: bool,
) -> Result<Written<Vec<RegisteredInBulk>>, OperationError> {
    for registration in &registrations {
        check_new_roles(caller, registration)?;
    }
    let by = app.authored_by(caller.actor());
    let written = GatedWrite::new(app, caller, &by).make(async |tx, by| {
        let mut records = Vec::with_capacity(registrations.len());
        for registration in &registrations {
            let (record, _) = register_in(app, tx, caller, registration.clone(), by, force).await?;
            let warnings = warnings_about(&record, force);
            records.push(RegisteredInBulk { record, warnings });
        }
        Ok(records)
    });
    written.await
}

/// Lists the resources of the caller's tenant, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    page: Page,
) -> Result<Listed<ResourceRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| resources::list(tx, page).await).await
}

/// Returns a resource of the caller's tenant.
///
/// # Errors
/// The tenant has no such resource, or the store failed.
pub async fn get(app: &App, caller: &Manager, id: Uuid) -> Result<ResourceRecord, OperationError> {
    app.read(caller.tenant(), async |tx| resources::find(tx, id).await?.ok_or(NOT_FOUND)).await
}

/// Deletes a resource of the caller's tenant with the rules of its default roles, and with the explicit rules whose `obj`
/// is its name if `explicit_rules`. Returns the tenant's revision.
///
/// # Errors
/// The tenant has no such resource, a rule goes and the caller may not write rules, more than 10,000 rules go, or the
/// store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    id: Uuid,
    explicit_rules: bool,
    force: bool,
) -> Result<u64, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, by| {
        let resource = resources::find(tx, id).await?.ok_or(NOT_FOUND)?;
        ownership::check(caller, resource.managed_by.as_deref(), force)?;
        let name = &resource.registration.name;
        // One more than may go tells that there are too many.
        let limit = MAX_DELETED_RULES as i64 + 1;
        let named = rules::for_object(tx, name, explicit_rules, limit).await?;
        // Who may not write rules may delete a resource that has none.
        if !named.is_empty() {
            caller.must_have(Permission::PoliciesWrite)?;
        }
        if named.len() > MAX_DELETED_RULES {
            return Err(OperationError::Conflict(format!(
                "more than {MAX_DELETED_RULES} rules would go with the resource; delete rules first"
            )));
        }
        for rule in &named {
            ownership::check(caller, rule.managed_by.as_deref(), force)?;
            rules::delete(tx, rule, by).await?;
        }
        Ok(resources::delete(tx, &resource).await?)
    });
    Ok(written.await?.revision)
}

/// Lists every rule that can match a resource of the caller's tenant, including rules with a pattern.
///
/// # Errors
/// The tenant has no such resource, or the store failed.
pub async fn list_rules(
    app: &App,
    caller: &Manager,
    id: Uuid,
    page: Page,
) -> Result<Listed<RuleRecord>, OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let resource = resources::find(&mut tx, id).await?;
    let resource = resource.ok_or(NOT_FOUND)?;
    let rules = rules::matching(&mut tx, &resource.registration.name, page).await?;
    tx.end().await?;
    Ok(rules)
}

/// Refuses default roles from a caller who may not write rules, because default roles make rules.
fn check_new_roles(caller: &Manager, registration: &Registration) -> Result<(), OperationError> {
    if registration.default_roles.is_empty() {
        return Ok(());
    }
    Ok(caller.must_have(Permission::PoliciesWrite)?)
}

/// Refuses to replace a registration with default roles by a caller who may not write rules, because a role that is no
/// longer listed loses its rule.
async fn check_old_roles(
    tx: &mut Tx,
    caller: &Manager,
    registration: &Registration,
) -> Result<(), OperationError> {
    let Err(refused) = caller.must_have(Permission::PoliciesWrite) else { return Ok(()) };
    match resources::find_by_name(tx, &registration.name).await? {
        Some(old) if !old.registration.default_roles.is_empty() => Err(refused.into()),
        _ => Ok(()),
    }
}
