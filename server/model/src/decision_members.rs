//! The members of a recorded decision (`docs/semantics.md`, section 17), one row for each: the type, the document of the API and
//! the columns of sealed files follow from the rows. A new member needs its row and its writer (`decision.rs` of the decision
//! log).

use portcullis_engine::Effect;
use portcullis_engine::names::names;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::openapi::schema::Type;
use uuid::Uuid;

use crate::relation::NewTuple;
use crate::schema::{self, AnySchema};
use crate::{Timestamp, document};

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

/// A member of a recorded decision.
#[derive(Clone, Copy, Debug)]
pub struct DecisionMember {
    pub name: &'static str,
    pub form: MemberForm,
    pub presence: MemberPresence,
    /// The line of the document about it; empty if it needs none.
    about: &'static str,
}

/// The form of a member's value in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberForm {
    Id,
    Instant,
    Number,
    Text,
    /// A [`Via`].
    Route,
    /// An [`Effect`].
    Decision,
    Texts,
    Object,
    /// A list of tuples.
    Tuples,
}

/// Whether a record has a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberPresence {
    Always,
    Optional,
    /// Only the text of a count has it, which is no record.
    OfCounts,
}

/// Makes [`DecisionRecord`] and [`MEMBERS`] of rows: the field, its form and presence, and the line of the document about it.
macro_rules! members {
    ($($(#[$meta:meta])* $field:ident: $type:ty => $form:ident, $presence:ident $(, $about:literal)?;)*) => {
        /// A decision as the record keeps it. Members that hold objects are JSON texts.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub struct DecisionRecord {
            $($(#[$meta])* pub $field: $type,)*
        }

        /// The members of a record, in the order of its JSON text.
        pub const MEMBERS: [DecisionMember; [$(stringify!($field)),*].len()] = [$(DecisionMember {
            name: stringify!($field),
            form: MemberForm::$form,
            presence: MemberPresence::$presence,
            // Without a literal this is the empty text.
            about: concat!($($about)?),
        }),*];
    };
}

members! {
    id: Uuid => Id, Always;
    time: Timestamp => Instant, Always;
    /// The id of the tenant.
    tenant: String => Text, Always, "The id of the tenant";
    /// The revision of the rules that decided.
    revision: i64 => Number, Always, "The revision of the rules that decided";
    entities_revision: i64 => Number, Always;
    via: Via => Route, Always;
    request_id: String => Text, Always;
    /// The credential: `kind`, `sub`, `iss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Box<RawValue>> => Object, Optional, "The credential: `kind`, `sub`, `iss`";
    subject: String => Text, Always;
    domain: String => Text, Always;
    resource: String => Text, Always;
    action: String => Text, Always;
    /// The attributes as they were sent, by namespace.
    attributes: Box<RawValue> => Object, Always, "The attributes as they were sent, by namespace";
    /// The claims that some policy of the tenant reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<Box<RawValue>> => Object, Optional, "The claims that a policy reads";
    /// The answer of the directory about subject and resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<Box<RawValue>> => Object, Optional, "What the directory said of subject and resource";
    /// The relations that were read; an absent one is [`ABSENT`](crate::decision::ABSENT), and one without an answer `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relations: Option<Box<RawValue>> => Object, Optional, "The relations that were read";
    /// The answers of resolvers, by namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved: Option<Box<RawValue>> => Object, Optional, "The answers of resolvers, by namespace";
    /// The tuples that counted beside the stored ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assumed: Option<Box<RawValue>> => Tuples, Optional, "The tuples that counted beside the stored ones";
    decision: Effect => Decision, Always;
    /// The id of the rule or policy that decided, or `default-deny`.
    rule: String => Text, Always, "The id of the rule or policy, or `default-deny`";
    reason: String => Text, Always;
    /// The attributes that made a condition undetermined.
    #[serde(default)]
    undetermined: Vec<String> => Texts, Always;
    /// The decision of another system, which the check carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Effect> => Decision, Optional;
    /// The decision of a draft: `draft`, `decision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shadow: Option<Box<RawValue>> => Object, Optional, "The decision of a draft";
    /// Microseconds that the decision took.
    us: u32 => Number, Always, "Microseconds that the decision took";
    /// The attributes that the tenant's settings, or the bounds of a record, left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<String> => Texts, Optional;
    /// Above zero, the record stands for so many allows of its minute that the tenant's settings left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: u64 => Number, OfCounts;
}

/// Returns the place of the member with this name among [`MEMBERS`]. A constant, so that another name does not compile.
pub const fn member(name: &str) -> usize {
    let mut place = 0;
    while !is_equal(MEMBERS[place].name.as_bytes(), name.as_bytes()) {
        place += 1;
    }
    place
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut place = 0;
    // Constant functions can neither compare slices nor use iterators.
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

impl DecisionMember {
    fn schema(&self) -> AnySchema {
        let schema: AnySchema = match self.form {
            MemberForm::Id => schema::id().into(),
            MemberForm::Instant => schema::instant().into(),
            MemberForm::Number => schema::integer(0, i64::MAX).into(),
            MemberForm::Text => schema::string().into(),
            MemberForm::Route => schema::choice(names::<Via>()).into(),
            MemberForm::Decision => schema::effect().into(),
            MemberForm::Texts => schema::list(schema::string()).into(),
            MemberForm::Object => schema::typed(Type::Object).into(),
            MemberForm::Tuples => schema::list(schema::named::<NewTuple>()).into(),
        };
        if self.about.is_empty() { schema } else { schema::about(schema, self.about) }
    }

    /// Adds the member to the document of a record.
    fn add_to(self, record: schema::Record) -> schema::Record {
        match self.presence {
            MemberPresence::Always => record.field(self.name, self.schema()),
            MemberPresence::Optional => record.maybe(self.name, self.schema()),
            // These members are internal to the log, and the API does not show them.
            MemberPresence::OfCounts => record,
        }
    }
}

document!(DecisionRecord, naming NewTuple => {
    let explanation = schema::typed(Type::Object).description(Some("As in an explained check; with `explain=true`"));
    MEMBERS.into_iter().fold(schema::record(), |record, member| member.add_to(record))
        .maybe("reproduced", schema::nullable(schema::boolean().description(Some("Whether the rules of the revision decide so again; with `explain=true`. `null` if the record lacks what they read"))))
        .maybe("not_replayable", schema::list(schema::string()).description(Some("The attributes that they read and the record has dropped or hashed; with `explain=true`, if there are any")))
        .maybe("explanation", explanation)
        .about("A recorded decision")
        .example(json!({
            "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70", "time": "2026-05-16T09:30:00.000Z", "tenant": "acme",
            "revision": 812, "entities_revision": 0, "via": "check", "request_id": "r-1", "subject": "dana",
            "domain": "acme", "resource": "chart:read", "action": "read", "attributes": {"user": {"ward": "er"}},
            "decision": "deny", "rule": "default-deny", "reason": "no RBAC rule and no ABAC policy allows it",
            "undetermined": [], "us": 7,
        }))
});

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}
