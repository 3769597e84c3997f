//! The agreement of checks with another system (`docs/semantics.md`, section 18.4).

use portcullis_engine::Effect;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::{Timestamp, document, schema};

/// The checks that another system decided, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parity {
    /// By period, resource and action.
    pub rows: Vec<ParityRow>,
    /// Whether every check that was asked for is counted.
    pub complete: bool,
}

/// The checks of one resource and action, in one period if they are counted by periods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParityRow {
    /// The beginning of the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    pub resource: String,
    pub action: String,
    /// The checks that both systems decided alike.
    pub agree: u64,
    pub differ: u64,
    /// The checks that they decided otherwise, by what decided here.
    pub groups: Vec<ParityGroup>,
}

/// Checks that two systems decided otherwise, for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParityGroup {
    /// The decision of the other system.
    pub expected: Effect,
    pub decision: Effect,
    /// The id of the rule or policy that decided, or `default-deny`.
    pub rule: String,
    pub count: u64,
    /// The ids of some of the decisions, the newest first.
    pub samples: Vec<Uuid>,
}

document!(Parity => {
    let text = schema::string;
    let group = schema::record()
        .field("expected", schema::effect().description(Some("What the other system decided")))
        .field("decision", schema::effect())
        .field("rule", text().description(Some("The id of the rule or policy, or `default-deny`")))
        .field("count", schema::integer(0, i64::MAX))
        .field("samples", schema::list(schema::id()))
        .about("Checks that differ, by what decided");
    let at = schema::instant().description(Some("The beginning of the period; only with `group_by`"));
    let row = schema::record()
        .maybe("at", at)
        .field("resource", text())
        .field("action", text())
        .field("agree", schema::integer(0, i64::MAX))
        .field("differ", schema::integer(0, i64::MAX))
        .field("groups", schema::list(group))
        .about("The checks of one resource and action, in one period with `group_by`");
    schema::record()
        .field("rows", schema::list(row))
        .field("complete", schema::boolean().description(Some("Whether every check is counted")))
        .about("The agreement of checks with another system")
        .example(json!({
            "rows": [{
                "resource": "chart:read", "action": "read", "agree": 812, "differ": 3,
                "groups": [{
                    "expected": "allow", "decision": "deny", "rule": "default-deny", "count": 3,
                    "samples": ["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70"],
                }],
            }],
            "complete": true,
        }))
});
