//! The meaning of a file of policies or named conditions, which no edit changes.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Format, Json, expression};

use crate::error::BundleError;
use crate::yaml;

/// Returns whether two files have the same policies: equal members, and conditions that are read into equal ones once
/// every search is a pattern of the whole text.
pub(super) fn is_equal(before: &str, after: &str) -> bool {
    let (Ok(before), Ok(after)) = (yaml::parse(before), yaml::parse(after)) else { return false };
    normal(before) == normal(after)
}

/// Returns the error about an edit that would change the meaning of a file.
pub(super) fn changed(file: &str) -> BundleError {
    BundleError::Invalid(format!(
        "{file}: the edited file would have another meaning, so it is left as it is"
    ))
}

/// Reads the condition of the members of a policy or a named condition that is no expression as `when`. Notes every fault.
pub(super) fn condition(
    policy: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Condition> {
    if let Some(when) = policy.get("when") {
        return Format::Json.condition(when, &at.key("when"), problems);
    }
    let at = at.key("rule_data");
    let format = policy.get("format").map_or(Some(Format::Json), |it| it.as_str()?.parse().ok());
    format?.condition(policy.get("rule_data")?, &at, problems)
}

/// Replaces the condition of each policy by its canonical expression.
fn normal(json: Json<'_>) -> Vec<Json<'_>> {
    let Json::Array(policies) = json else { return vec![json] };
    policies.into_iter().map(normal_policy).collect()
}

fn normal_policy(policy: Json<'_>) -> Json<'_> {
    let written = policy.get("when").and_then(Json::as_str).map(expression::parse);
    let condition = match written {
        Some(condition) => condition.ok(),
        None => condition(&policy, &Place::root(), &mut Problems::default()),
    };
    let (Json::Object(members), Some(condition)) = (policy.clone(), condition) else {
        return policy;
    };
    let text = expression::print(&condition.without_searches());
    let condition = ("when".into(), Json::String(text.into()));
    let others =
        members.into_iter().filter(|(name, _)| !matches!(&**name, "when" | "rule_data" | "format"));
    // The order of the members has no meaning, and an edit keeps it.
    Json::Object(others.chain([condition]).collect())
}
