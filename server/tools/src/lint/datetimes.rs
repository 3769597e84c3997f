//! Date-times without a declared type that policies compare as texts. Of declared ones it is a fault.

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::excerpt::quoted;
use portcullis_model::types::{NewType, declared_types};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about the enabled policies.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let types = declared_types(bundle.types.iter().flatten().map(NewType::declared));
    let policies = bundle.policies.iter().enumerate().filter(|(_, policy)| policy.enabled);
    let doubts = policies.filter_map(|(index, policy)| {
        let attribute = types.datetime_as_text(&policy.resource, &policy.rule_data.condition)?;
        Some(Doubt {
            code: LintCode::DatetimesAsTexts,
            subject: LintSubject::Item(ItemKind::Policy, index, "/when"),
            message: format!(
                "the policy {} compares {} with a date-time by the order of texts",
                quoted(&policy.name),
                quoted(attribute)
            ),
            advice: "write `x before y` for `<`, `x after y` for `>`, `!(x after y)` for `<=`, and `!(x before y)` for `>=`"
                .to_owned(),
        })
    });
    doubts.collect()
}
