//! Date-times without a declared type that policies compare as texts. Of declared ones it is a fault.

use portcullis_bundle::{Bundle, DatetimeValues, ItemKind};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::{Condition, expression};
use portcullis_model::types::{NewType, declared_types};
use portcullis_model::warning::INSTEAD_OF_ORDERS;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about the enabled policies.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let types = declared_types(bundle.types.iter().flatten().map(NewType::declared));
    let values = DatetimeValues::new(&bundle.cases, bundle.entities.iter().flatten());
    let policies = bundle.policies.iter().enumerate().filter(|(_, policy)| policy.enabled);
    let doubts = policies.filter_map(|(index, policy)| {
        let (resource, condition) = (&policy.resource, &policy.rule_data.condition);
        let orders = types.orders_as_texts(resource, condition, |path| values.has(resource, path));
        let (_, test) = orders.into_iter().next()?;
        Some(Doubt {
            code: LintCode::DatetimesAsTexts,
            subject: LintSubject::Item(ItemKind::Policy, index, "/when"),
            message: format!(
                "the policy {} orders date-times as texts: {}",
                quoted(&policy.name),
                quoted(expression::print(&Condition::Test(test.clone())))
            ),
            advice: INSTEAD_OF_ORDERS.to_owned(),
        })
    });
    doubts.collect()
}
