//! Recorded decisions (`docs/semantics.md`, section 17).

use std::borrow::Cow;

use portcullis_engine::Effect;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::Timestamp;
pub(crate) use crate::decision_members::is_zero;
pub use crate::decision_members::{
    DecisionMember, DecisionRecord, MEMBERS, MemberForm, MemberPresence, Via, member,
};

/// The name of a hashed value in a record. A recorded attribute is never an object with members, so that nobody takes it
/// for a value.
pub const HASHED: &str = "hmac";

/// The text of a relation in a record that is absent. No relation has a text as its value, and no condition compares it with
/// `true` or `false`, as a reader of an earlier version does.
pub const ABSENT: &str = "absent";

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
    /// Returns the answer for these numbers of records and of deliveries of denied checks. The receivers may have `sent` of
    /// the deliveries.
    pub fn new(records: u64, deliveries: u64, sent: u64) -> Self {
        let parts = match deliveries {
            0 => Vec::new(),
            _ => vec![
                ErasedPart { part: "decisions".to_owned(), removed: records },
                ErasedPart { part: "deliveries".to_owned(), removed: deliveries },
            ],
        };
        let of_receivers = ErasureRest {
            place: "receivers".to_owned(),
            count: sent,
            why: "the service sent them, or tried to, before the erasure: the receivers may have them; ask the receivers to \
                  erase them"
                .to_owned(),
        };
        let remains = if sent > 0 { vec![of_receivers] } else { Vec::new() };
        Self { erased: records, parts, remains }
    }
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
        // A credential that this version cannot read is not known to be the member's own.
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
            assumed: None,
            expected,
            shadow: None,
            // The names may be those of attributes that somebody else supplied.
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
        // Times are compared first, because that costs less than comparing texts.
        self.covers(record.time)
            && is_wanted(self.subject.as_deref(), &record.subject)
            && is_wanted(self.resource.as_deref(), &record.resource)
            && is_wanted(self.action.as_deref(), &record.action)
            && is_wanted(self.rule.as_deref(), &record.rule)
            && is_wanted(self.request_id.as_deref(), &record.request_id)
            && self.decision.is_none_or(|wanted| wanted == record.decision)
            && self.via.is_none_or(|wanted| wanted == record.via)
            // A wish for undetermined decisions asks for a list that is not empty.
            && self.undetermined.is_none_or(|wanted| wanted != record.undetermined.is_empty())
    }

    /// Returns whether records of the instant are wanted.
    pub fn covers(&self, instant: Timestamp) -> bool {
        // The end is outside, so that adjacent spans share no record.
        self.from.is_none_or(|from| from <= instant) && self.to.is_none_or(|to| instant < to)
    }
}

fn is_wanted(wanted: Option<&str>, own: &str) -> bool {
    wanted.is_none_or(|text| text == own)
}
