//! The policies of a tenant: `policies.yaml`.

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{DEFAULT_DENY, Json, Namespaces};

use portcullis_model::policy::NewPolicy;

use crate::unique::each_once;

/// Reads the policies, which may read the attributes of `namespaces`.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    namespaces: &Namespaces,
) -> Option<Vec<NewPolicy>> {
    let policies = read_named(json, at, problems)?;
    for (index, policy) in policies.iter().enumerate() {
        let at = at.index(index);
        policy.rule_data.condition.check(namespaces, &at.key("rule_data"), problems);
    }
    Some(policies)
}

/// Reads policies whose names tell them apart: the service does not ask for that, but cases name them.
fn read_named(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<NewPolicy>> {
    let policies = list(NewPolicy::read)(json, at, problems)?;
    each_once(policies.iter().map(|policy| &policy.name), "`name`", at, problems);
    for (index, policy) in policies.iter().enumerate() {
        if policy.name == DEFAULT_DENY {
            let what =
                format!("a name other than `{DEFAULT_DENY}`, which says that nothing matched");
            problems.expected(&at.index(index).key("name"), what);
        }
    }
    Some(policies)
}
