//! The setting `actions` after a plan, compared with rules and cases.

use portcullis_bundle::BundleDocument;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{ActionTerms, Json, json};
use portcullis_model::rule::RuleRecord;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::BrokenObjects;

use crate::content::tenant_content::TenantContent;
use crate::content::types::{must_be_none, note};

/// Returns the setting after the plan.
pub(super) fn terms_after(state: &TenantContent, bundle: &BundleDocument) -> ActionTerms {
    bundle.settings.as_ref().unwrap_or(&state.settings).checks.actions
}

/// Notes the actions of the rules and cases of the bundle that `terms` do not allow.
pub(super) fn check_bundle(bundle: &BundleDocument, terms: ActionTerms, problems: &mut Problems) {
    let root = Place::root();
    let at = root.key("bundle");
    let (rules, cases) = (at.key("rules"), at.key("cases"));
    for (index, rule) in bundle.rules.iter().flatten().enumerate() {
        if let Some(expected) = terms.fault_of_rule(&rule.tuple) {
            problems.expected(&rules.index(index).key("act"), expected);
        }
    }
    for (index, sent) in bundle.cases.iter().flatten().enumerate() {
        sent.value.check_action(terms, &cases.index(index), problems);
    }
}

/// Refuses a setting that stored rules or cases do not fit. `rules` are those after the plan.
///
/// # Errors
/// A rule or a case names another action than the verb of its resource.
pub(super) fn check_stored(
    state: &TenantContent,
    bundle: &BundleDocument,
    rules: &[&RuleRecord],
    terms: ActionTerms,
) -> Result<(), OperationError> {
    let mut broken = BrokenObjects::default();
    for rule in rules {
        if let Some(expected) = terms.fault_of_rule(&rule.tuple) {
            let message = format!("at `/act`: expected {expected}");
            note(&mut broken, "rule", || rule.tuple.to_string(), message);
        }
    }
    // `check_bundle` has judged the cases of the bundle, which replace the stored ones.
    if bundle.cases.is_none() && terms == ActionTerms::Verb {
        broken_cases(&state.guards.cases.cases, terms, &mut broken);
    }
    must_be_none(broken)
}

/// Notes the cases, a JSON list, that name another action than the verb of their resource.
fn broken_cases(cases: &str, terms: ActionTerms, broken: &mut BrokenObjects) {
    let parsed = json::parse(cases.as_bytes()).unwrap_or(Json::Null);
    for case in parsed.as_array().unwrap_or_default() {
        let check = case.get("check");
        let [resource, action] =
            ["resource", "action"].map(|name| check?.get(name).and_then(Json::as_str));
        let (Some(resource), Some(action)) = (resource, action) else { continue };
        if let Some(expected) = terms.fault(action, resource) {
            let name = case.get("name").and_then(Json::as_str).unwrap_or_default();
            let message = format!("at `/check/action`: expected {expected}");
            note(broken, "case", || name.to_owned(), message);
        }
    }
}
