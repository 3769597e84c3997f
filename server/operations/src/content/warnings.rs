//! The warnings about written rules and policies (`docs/semantics.md`, section 3.9). Each comparison with the registry is
//! one look into an index.

use portcullis_bundle::DatetimeValues;
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::resource::encoded_verb;
use portcullis_engine::types::USER;
use portcullis_engine::{ResourcePattern, RuleTuple};
use portcullis_model::policy::CompiledRuleData;
use portcullis_model::warning::Warning;
use portcullis_storage::{StoreError, Tx, conditions, entities, resources, tenant_cases};

use super::types::declared;

/// Most entities of a type whose properties say that an attribute has date-times.
const MAX_ENTITIES: i64 = 1_000;

/// Returns the warnings about a written rule: its object matches no registered resource, or none has its action as verb.
/// A tenant without registered resources gets no warnings, because there is nothing to compare with.
pub(crate) async fn for_rule(tx: &mut Tx, rule: &RuleTuple) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    if !resources::matches(tx, &ResourcePattern::Any).await? {
        return Ok(warnings);
    }
    if !resources::matches(tx, &rule.obj).await? {
        warnings.push(Warning::unregistered_resource("/obj", &rule.obj.to_string()));
    }
    let is_verb = rule.act == WILDCARD
        || resources::have_verb(tx, &rule.act).await?
        || resources::have_verb(tx, &encoded_verb(&rule.act)).await?;
    if !is_verb {
        warnings.push(Warning::unregistered_verb(&rule.act));
    }
    Ok(warnings)
}

/// Returns the warnings about a written policy: its resource matches no registered resource, but the tenant has some, and
/// those about its new condition.
pub(crate) async fn for_policy(
    tx: &mut Tx,
    resource: &ResourcePattern,
    condition: Option<&CompiledRuleData>,
) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    let is_known = resources::matches(tx, resource).await?
        || !resources::matches(tx, &ResourcePattern::Any).await?;
    if !is_known {
        warnings.push(Warning::unregistered_resource("/resource", &resource.to_string()));
    }
    if let Some(sent) = condition {
        let names = match sent.condition.has_names() {
            true => conditions::named(tx).await?,
            false => NamedConditions::default(),
        };
        let sent = sent.resolved(&names);
        warnings.extend(sent.warnings.iter().cloned());
        warnings.extend(datetimes_as_texts(tx, resource, &sent).await?);
    }
    Ok(warnings)
}

/// Returns the warnings about orders of date-times in a condition. Two attributes have date-times if the stored cases and the
/// first entities of their types say so, which are read if there is such an order alone.
async fn datetimes_as_texts(
    tx: &mut Tx,
    resource: &ResourcePattern,
    sent: &CompiledRuleData,
) -> Result<Vec<Warning>, StoreError> {
    if !sent.condition.orders_texts() {
        return Ok(Vec::new());
    }
    let types = declared(tx).await?;
    // If the values make no difference, they are not read.
    let [most, fewest] = [true, false].map(|has_datetimes| {
        types.orders_as_texts(resource, &sent.condition, |_| has_datetimes).len()
    });
    if most == fewest {
        return Ok(DatetimeValues::default().warnings(&types, resource, sent));
    }
    let cases = tenant_cases::find(tx).await?.unwrap_or_default();
    let mut values = DatetimeValues::of_stored_cases(&cases.cases);
    for kind in [Some(USER), resource.object()] {
        let page = entities::list(tx, kind, (kind.unwrap_or_default(), ""), MAX_ENTITIES).await?;
        page.records.iter().for_each(|one| values.note_entity(&one.kind, &one.properties));
    }
    Ok(values.warnings(&types, resource, sent))
}
