//! Records of checks of the sample hospital.

use portcullis_decision_log::{RecordedCaller, RecordedDecision};
use portcullis_engine::request::{Action, AttributeMap, Attributes};
use portcullis_engine::{Effect, Json, MatchedRuleId};
use portcullis_model::Timestamp;
use portcullis_model::decision::{CallerKind, Via};
use uuid::Uuid;

const WARDS: [&str; 6] = ["er", "icu", "surgery", "pediatrics", "oncology", "radiology"];

/// Returns the attributes of a check.
pub(crate) fn sent(number: usize) -> String {
    let (ward, other) = (WARDS[number % WARDS.len()], WARDS[number / 7 % WARDS.len()]);
    format!(
        r#"{{"user": {{"roles": ["nurse"], "department": "{ward}", "on_shift": true}},
        "resource": {{"patient": "p-{}", "ward": "{other}", "vip": {}}}, "context": {{"purpose": "treatment"}}}}"#,
        number * 7_919 % 50_000,
        number.is_multiple_of(16)
    )
}

/// Returns the name of a subject.
pub(crate) fn subject(number: usize) -> String {
    format!("nurse-{number}@example.org")
}

/// Returns a decision about `subject` and `resource`.
pub(crate) fn decision<'a>(
    id: Uuid,
    (subject, resource): (&'a str, &'a str),
    sent: &'a Json<'a>,
) -> RecordedDecision<'a> {
    let of = |name| {
        AttributeMap::from_members(sent.get(name).and_then(Json::as_object).unwrap_or_default())
    };
    let attributes = Attributes {
        user: of("user"),
        resource: of("resource"),
        action: of("action"),
        context: of("context"),
    };
    RecordedDecision {
        id,
        at: Timestamp::from_id(id),
        tenant: "hospital",
        revision: 812,
        entities_revision: 40,
        via: Via::Check,
        request_id: "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64",
        caller: Some(RecordedCaller { kind: CallerKind::Key, sub: "svc-charts", iss: None }),
        subject,
        domain: "hospital",
        resource,
        action: Action::Plain("read"),
        attributes,
        reads: &|_, _| true,
        token: None,
        directory: Some(&|members| {
            members.roles(["nurse", "staff"]);
        }),
        relations: None,
        resolved: None,
        decision: Effect::Allow,
        rule: MatchedRuleId(Some(Uuid::from_u128(7))),
        reason: &"ABAC policy `own ward` allows: its condition is true",
        undetermined: &|_| {},
        expected: None,
        shadow: None,
        us: 7,
        texts: None,
    }
}
