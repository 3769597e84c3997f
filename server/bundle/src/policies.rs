//! The policies of a tenant: `policies.yaml`.

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{DEFAULT_DENY, Json, Namespaces};

use portcullis_model::policy::{CompiledRuleData, NewPolicy};

use crate::unique::each_once;

/// Reads the policies of a file, which may read the attributes of `namespaces`.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    namespaces: &Namespaces,
) -> Option<Vec<NewPolicy>> {
    let policies = read_sound(json, at, problems)?;
    let items = json.as_array().unwrap_or_default();
    for (index, (policy, item)) in policies.iter().zip(items).enumerate() {
        let has_when = item.get("when").is_some();
        check_attributes(policy, has_when, namespaces, &at.index(index), problems);
    }
    Some(policies)
}

/// Notes the attributes that an enabled policy reads and `namespaces` does not have. The policy at `at` has its condition as
/// `when` or as `rule_data`. What a disabled one reads may go, and an export has it nevertheless.
pub fn check_attributes(
    policy: &NewPolicy,
    has_when: bool,
    namespaces: &Namespaces,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    if !policy.enabled {
        return;
    }
    let attributes = namespaces.readable_on(&policy.resource);
    let CompiledRuleData { format, json, condition, .. } = &policy.rule_data;
    if has_when {
        condition.check_text(*format, json.text(), attributes, &at.key("when"), problems);
    } else {
        let at = at.key("rule_data");
        condition.check_rule_data(*format, json.text(), attributes, &at, problems);
    }
}

/// Reads policies whose names tell them apart: the service does not ask for that, but cases name them.
pub(super) fn read_named(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewPolicy>> {
    let policies = read_sound(json, at, problems)?;
    each_once(policies.iter().map(|policy| &policy.name), "`name`", at, problems);
    Some(policies)
}

/// Reads policies that cases can name.
fn read_sound(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<NewPolicy>> {
    let policies = list(NewPolicy::read_of_file)(json, at, problems)?;
    for (index, policy) in policies.iter().enumerate() {
        if policy.name == DEFAULT_DENY {
            let what =
                format!("a name other than `{DEFAULT_DENY}`, which says that nothing matched");
            problems.expected(&at.index(index).key("name"), what);
        }
    }
    Some(policies)
}
