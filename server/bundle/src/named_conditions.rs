//! The named conditions of a tenant: `conditions.yaml`, and the `conditions` of a bundle.

use std::borrow::Cow;

use portcullis_engine::Json;
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::named_condition::{NewCondition, exceeded_limit};
use portcullis_model::policy::NewPolicy;

use crate::unique::each_once;

/// Reads conditions, each name once, as many as a tenant may have.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewCondition>> {
    let conditions = list(NewCondition::read)(json, at, problems)?;
    each_once(conditions.iter().map(|one| &one.name), "`name`", at, problems);
    if let Some(limit) = exceeded_limit(conditions.iter().map(NewCondition::bytes)) {
        problems.expected(at, limit);
    }
    Some(conditions)
}

/// Reads every condition of a folder. The names in them exist, and lead to no circle.
pub(super) fn read_all(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewCondition>> {
    let conditions = read(json, at, problems).filter(|_| problems.is_empty())?;
    let names = named(&conditions);
    for (index, one) in conditions.iter().enumerate() {
        one.check(&names, &at.index(index), problems);
    }
    Some(conditions)
}

/// Returns the conditions as policies use them.
pub(super) fn named(conditions: &[NewCondition]) -> NamedConditions {
    let written = conditions.iter();
    NamedConditions::new(written.map(|one| (one.name.as_str().into(), one.when.condition.clone())))
}

/// Puts what the names in the conditions of policies stand for into them. A name with a fault was noted where it stands.
pub(super) fn resolve(policies: &mut [NewPolicy], names: &NamedConditions) {
    for policy in policies {
        if let Cow::Owned(resolved) = policy.rule_data.resolved(names) {
            policy.rule_data = resolved;
        }
    }
}
