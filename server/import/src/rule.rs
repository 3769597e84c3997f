//! RBAC rules in the format of the API and of `rules.yaml`.

use portcullis_engine::{Effect, Json, json};
use portcullis_model::rule::NewRule;
use serde::Serialize;

/// The value of a rule that stands for everything.
pub(crate) const STAR: &str = "*";

/// A rule in the format of the API and of `rules.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Rule {
    pub(crate) sub: String,
    /// Absent for the domain of the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dom: Option<String>,
    pub(crate) obj: String,
    pub(crate) act: String,
    pub(crate) effect: Effect,
}

/// Makes sure that Portcullis accepts the rule. The error is the reason why not.
pub(crate) fn accepted(rule: Rule) -> Result<Rule, String> {
    let text = serde_json::to_string(&rule).map_err(|error| error.to_string())?;
    let json: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let Rule { sub, obj, act, .. } = &rule;
    NewRule::parse(&json, STAR)
        .map_err(|invalid| format!("the rule `{sub}, {obj}, {act}`: {invalid}"))?;
    Ok(rule)
}
