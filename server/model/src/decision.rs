//! Recorded decisions (`docs/semantics.md`, section 12).

use std::borrow::Cow;

use portcullis_engine::Effect;
use portcullis_engine::names::names;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;
use utoipa::openapi::schema::Type;
use uuid::Uuid;

use crate::{Timestamp, document, schema};

/// The name of a hashed value in a record. A recorded attribute is never an object with members, so that nobody takes it
/// for a value.
pub const HASHED: &str = "hmac";

/// The answer to an erasure of the records about a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(examples(json!({"erased": 12})))]
pub struct ErasedDecisions {
    /// The number of records that are gone.
    pub erased: u64,
    /// The numbers of each part that are gone; left out if that is records alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ErasedPart>,
    /// Copies that nobody here can erase; left out if none are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remains: Vec<ErasureRest>,
}

/// A part of an erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErasedPart {
    /// `decisions`, or `deliveries` of the events of denied checks.
    pub part: String,
    /// The number of those that are gone.
    pub removed: u64,
}

/// A rest that an erasure leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErasureRest {
    /// The place: `receivers` of webhooks.
    #[serde(rename = "where")]
    pub place: String,
    pub count: u64,
    pub why: String,
}

impl ErasedDecisions {
    /// Returns the answer for so many records and so many deliveries of denied checks, of which the receivers may have
    /// `sent`.
    pub fn new(records: u64, deliveries: u64, sent: u64) -> Self {
        let part = |part: &str, removed| ErasedPart { part: part.to_owned(), removed };
        let parts = match deliveries {
            0 => Vec::new(),
            _ => vec![part("decisions", records), part("deliveries", deliveries)],
        };
        let of_receivers = ErasureRest {
            place: "receivers".to_owned(),
            count: sent,
            why: "they were delivered before the erasure; ask the receivers to erase them"
                .to_owned(),
        };
        let remains = if sent > 0 { vec![of_receivers] } else { Vec::new() };
        Self { erased: records, parts, remains }
    }
}

/// The route that a check came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Via {
    Check,
    Legacy,
    Batch,
    Authzen,
}

/// The kind of credential of a caller whose check is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CallerKind {
    Token,
    Key,
}

/// The part of an attribute that a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Treatment {
    /// The value.
    Keep,
    /// The name alone.
    Drop,
    /// A keyed hash of its value: equality and membership can be decided again.
    Hash,
    /// The value if the plan looked at it, else nothing.
    Reads,
}

/// A decision as the record keeps it. Members that hold objects are JSON texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecisionRecord {
    pub id: Uuid,
    pub time: Timestamp,
    /// The id of the tenant.
    pub tenant: String,
    /// The revision of the rules that decided.
    pub revision: i64,
    pub entities_revision: i64,
    pub via: Via,
    pub request_id: String,
    /// The credential: `kind`, `sub`, `iss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Box<RawValue>>,
    pub subject: String,
    pub domain: String,
    pub resource: String,
    pub action: String,
    /// The attributes as they were sent, by namespace.
    pub attributes: Box<RawValue>,
    /// The claims that some policy of the tenant reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Box<RawValue>>,
    /// The answer of the directory about subject and resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Box<RawValue>>,
    /// The relations that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relations: Option<Box<RawValue>>,
    /// The answers of resolvers, by namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Box<RawValue>>,
    pub decision: Effect,
    /// The id of the rule or policy that decided, or `default-deny`.
    pub rule: String,
    pub reason: String,
    /// The attributes that made a condition undetermined.
    #[serde(default)]
    pub undetermined: Vec<String>,
    /// The decision of another system, which the check carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Effect>,
    /// The decision of a draft: `draft`, `decision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Box<RawValue>>,
    /// The attributes that the tenant's settings, or the bounds of a record, left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Microseconds that the decision took.
    pub us: u32,
    /// Above zero, the record stands for so many allows of its minute that the tenant's settings left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

document!(DecisionRecord => {
    let object = || schema::typed(Type::Object);
    let nested = |about: &str| object().description(Some(about));
    let text = schema::string;
    let number = || schema::integer(0, i64::MAX);
    schema::record()
        .field("id", schema::id())
        .field("time", schema::instant())
        .field("tenant", text().description(Some("The id of the tenant")))
        .field("revision", number().description(Some("The revision of the rules that decided")))
        .field("entities_revision", number())
        .field("via", schema::choice(names::<Via>()))
        .field("request_id", text())
        .maybe("caller", nested("The credential: `kind`, `sub`, `iss`"))
        .field("subject", text())
        .field("domain", text())
        .field("resource", text())
        .field("action", text())
        .field("attributes", nested("The attributes as they were sent, by namespace"))
        .maybe("token", nested("The claims that a policy reads"))
        .maybe("directory", nested("What the directory said of subject and resource"))
        .maybe("relations", nested("The relations that were read"))
        .maybe("resolved", nested("The answers of resolvers, by namespace"))
        .field("decision", schema::effect())
        .field("rule", text().description(Some("The id of the rule or policy, or `default-deny`")))
        .field("reason", text())
        .field("undetermined", schema::list(text()))
        .maybe("expected", schema::effect())
        .maybe("shadow", nested("The decision of a draft"))
        .maybe("dropped", schema::list(text()))
        .maybe("reproduced", schema::nullable(schema::boolean().description(Some("Whether the rules of the revision decide so again; with `explain=true`. `null` if the record lacks what they read"))))
        .maybe("not_replayable", schema::list(text()).description(Some("The attributes that they read and the record has dropped or hashed; with `explain=true`, if there are any")))
        .maybe("explanation", nested("As in an explained check; with `explain=true`"))
        .field("us", number().description(Some("Microseconds that the decision took")))
        .about("A recorded decision")
        .example(json!({
            "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70", "time": "2026-05-16T09:30:00.000Z", "tenant": "acme",
            "revision": 812, "entities_revision": 0, "via": "check", "request_id": "r-1", "subject": "dana",
            "domain": "acme", "resource": "chart:read", "action": "read", "attributes": {"user": {"ward": "er"}},
            "decision": "deny", "rule": "default-deny", "reason": "no RBAC rule and no ABAC policy allows it",
            "undetermined": [], "us": 7,
        }))
});

/// The credential of a record: `caller`.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct DecisionCaller<'r> {
    pub kind: CallerKind,
    #[serde(borrow)]
    pub sub: Cow<'r, str>,
    #[serde(borrow, default)]
    pub iss: Option<Cow<'r, str>>,
}

impl DecisionRecord {
    /// Returns what a member who is not a manager may see: what its own credential, `own`, sent, and what was decided. What
    /// other credentials sent, and what the directory, resolvers and relations supplied, is for managers.
    #[must_use]
    pub fn for_member(self, own: &DecisionCaller<'_>) -> Self {
        let caller = self.caller.as_ref().and_then(|json| serde_json::from_str(json.get()).ok());
        let is_own = caller.is_some_and(|caller: DecisionCaller<'_>| caller == *own);
        let (caller, token, expected) = match is_own {
            true => (self.caller, self.token, self.expected),
            false => (None, None, None),
        };
        Self {
            caller,
            attributes: if is_own { self.attributes } else { nothing() },
            token,
            directory: None,
            relations: None,
            resolved: None,
            expected,
            shadow: None,
            dropped: Vec::new(),
            ..self
        }
    }
}

/// Returns an object without members.
fn nothing() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

/// The records that are wanted; an absent member selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionSelection {
    /// Inclusive.
    pub from: Option<Timestamp>,
    /// Exclusive.
    pub to: Option<Timestamp>,
    pub subject: Option<String>,
    pub resource: Option<String>,
    pub action: Option<String>,
    pub rule: Option<String>,
    pub request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// Whether an attribute was undetermined.
    pub undetermined: Option<bool>,
}

impl DecisionSelection {
    /// Returns whether `record` is one of a decision, and is wanted.
    pub fn selects(&self, record: &DecisionRecord) -> bool {
        record.left_out == 0 && self.fits(record)
    }

    /// Returns whether `record` has what is wanted.
    pub fn fits(&self, record: &DecisionRecord) -> bool {
        let is =
            |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|text| text == own);
        self.covers(record.time)
            && is(&self.subject, &record.subject)
            && is(&self.resource, &record.resource)
            && is(&self.action, &record.action)
            && is(&self.rule, &record.rule)
            && is(&self.request_id, &record.request_id)
            && self.decision.is_none_or(|wanted| wanted == record.decision)
            && self.via.is_none_or(|wanted| wanted == record.via)
            && self.undetermined.is_none_or(|wanted| wanted != record.undetermined.is_empty())
    }

    /// Returns whether records of the instant are wanted.
    pub fn covers(&self, instant: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.to.is_none_or(|to| instant < to)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}
