//! The attributes of resolvers that the policies read after a plan.

use std::collections::HashSet;

use portcullis_bundle::{BundleDocument, check_attributes, check_subject};
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_engine::{AttributeKind, Namespaces};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::policies::planned;

/// Notes the attributes and names that policies and conditions of the bundle use and that `namespaces` do not have, and the
/// relations that its rules name and `types` do not have.
pub(super) fn check_bundle(
    bundle: &BundleDocument,
    (namespaces, types): (&Namespaces, &Types),
    problems: &mut Problems,
) {
    let root = Place::root();
    let at = root.key("bundle");
    let rules = at.key("rules");
    for (index, rule) in bundle.rules.iter().flatten().enumerate() {
        check_subject(rule, types, &rules.index(index), problems);
    }
    let conditions = at.key("conditions");
    for (index, sent) in bundle.conditions.iter().flatten().enumerate() {
        sent.check(namespaces.conditions(), &conditions.index(index), problems);
    }
    let at = at.key("policies");
    for (index, sent) in bundle.policies.iter().flatten().enumerate() {
        check_attributes(&sent.policy, sent.has_when, namespaces, &at.index(index), problems);
    }
}

/// Refuses changes of resolvers that take an attribute from an enabled policy. `policies` and `names` are those after the plan.
pub(super) fn check_stored(
    writes: &[RecordWrite<StoredResolver>],
    policies: &[&PolicyRecord],
    names: &NamedConditions,
) -> Result<(), OperationError> {
    let lost: HashSet<(&str, &str)> = writes.iter().flat_map(lost_attributes).collect();
    if lost.is_empty() {
        return Ok(());
    }
    let readers = policies.iter().filter(|record| {
        // With the names after the plan, which may read other attributes than before.
        let condition = planned((**record).clone()).resolved(names).condition;
        let reads_lost = condition.is_ok_and(|condition| {
            let read = condition.resolved_attributes();
            read.iter().any(|read| lost.contains(&(&*read.namespace, &*read.name)))
        });
        record.enabled && reads_lost
    });
    let readers: Vec<_> = readers.map(|policy| policy.id).collect();
    if readers.is_empty() {
        return Ok(());
    }
    let what = "enabled policies read attributes of resolvers that this bundle removes or gives another kind";
    Err(OperationError::StillRead(what.to_owned(), readers))
}

/// Returns the attributes that a resolver has no more, or with another kind.
fn lost_attributes(write: &RecordWrite<StoredResolver>) -> Vec<(&str, &str)> {
    let Some(old) = write.before() else { return Vec::new() };
    let lost = old.module.attributes.iter().filter(|known| {
        let new = write.after().and_then(|new| kind_of(new, &known.name));
        new != Some(known.kind)
    });
    lost.map(|known| (&*old.manifest.namespace, &*known.name)).collect()
}

fn kind_of(resolver: &StoredResolver, attribute: &str) -> Option<AttributeKind> {
    let mut known = resolver.module.attributes.iter();
    known.find(|known| known.name == attribute).map(|known| known.kind)
}
