//! One decision as the service hands it over, and its JSON text.

use std::fmt;

use portcullis_engine::request::{Action, Attributes};
use portcullis_engine::{Effect, Json, MatchedRuleId};
use portcullis_model::Timestamp;
use portcullis_model::decision::{CallerKind, Via};
use portcullis_model::relation::NewTuple;
use uuid::Uuid;

use crate::bounds::Bounds;
use crate::members::{RecordMembers, RecordTexts, write_instant, write_integer};
use crate::minimisation::Minimisation;
use crate::shared::{BatchTexts, SentKey, TextUse};

/// The last member of a count, up to its number.
pub(crate) const LEFT_OUT: &[u8] = br#","left_out":"#;
/// The members that a count does not have.
const NOT_OF_A_COUNT: &[u8] = br#","revision":0,"entities_revision":0,"request_id":"","subject":"","attributes":{},"reason":"","us":0"#;

/// Writes the members of an object of the record; `None` leaves the object out. A function, so that the service collects
/// nothing first.
pub type Nested<'a> = Option<&'a dyn Fn(&mut RecordMembers<'_>)>;

/// A decision with everything that it depended on. Borrows it all from the check.
#[derive(Clone, Copy)]
pub struct RecordedDecision<'a> {
    /// A UUIDv7 that was made at `at`: the order of ids is the order of the record.
    pub id: Uuid,
    pub at: Timestamp,
    /// The id of the tenant.
    pub tenant: &'a str,
    pub revision: i64,
    pub entities_revision: i64,
    pub via: Via,
    pub request_id: &'a str,
    pub caller: Option<RecordedCaller<'a>>,
    pub subject: &'a str,
    pub domain: &'a str,
    pub resource: &'a str,
    pub action: Action<'a>,
    /// The attributes as they were sent.
    pub attributes: Attributes<'a>,
    /// Returns whether the plan looked at the attribute of this namespace and name.
    pub reads: &'a dyn Fn(&str, &str) -> bool,
    /// The claims that some policy of the tenant reads.
    pub token: Nested<'a>,
    /// `user`, `resource` and `roles`, as the directory has them.
    pub directory: Nested<'a>,
    pub relations: Nested<'a>,
    /// The tuples that counted beside the stored ones.
    pub assumed: &'a [NewTuple],
    /// The answers of resolvers, by namespace: `values`, `version`, `us`, `source`.
    pub resolved: Nested<'a>,
    pub decision: Effect,
    pub rule: MatchedRuleId,
    pub reason: &'a dyn fmt::Display,
    /// Writes the attributes that made a condition undetermined.
    pub undetermined: &'a dyn Fn(&mut RecordTexts<'_>),
    pub expected: Option<Effect>,
    pub shadow: Option<RecordedShadow<'a>>,
    /// Microseconds that the decision took.
    pub us: u32,
    /// The texts of the records of its batch; `None` for a check that came alone.
    pub texts: Option<&'a BatchTexts>,
}

/// The caller of a recorded check.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCaller<'a> {
    pub kind: CallerKind,
    pub sub: &'a str,
    pub iss: Option<&'a str>,
}

/// The decision of a draft on the same check.
#[derive(Clone, Copy, Debug)]
pub struct RecordedShadow<'a> {
    pub draft: &'a str,
    pub decision: Effect,
}

impl RecordedDecision<'_> {
    /// Appends the JSON text of the record to `out`, with what the terms of the tenant and the bounds of a record leave of its
    /// attributes. Returns the texts that are apart.
    pub(crate) fn encode(
        &self,
        minimisation: Option<&Minimisation>,
        out: &mut Vec<u8>,
    ) -> Vec<TextUse> {
        let mut bounds = Bounds::new(out.len());
        let mut record = RecordMembers::begin(out, (minimisation, self.texts), &mut bounds);
        record.raw("\"id\":", |out| write_id(out, self.id));
        record.raw(",\"time\":", |out| write_instant(out, self.at));
        record.known(",\"tenant\":", self.tenant);
        record.raw(",\"revision\":", |out| write_integer(out, self.revision));
        record.raw(",\"entities_revision\":", |out| write_integer(out, self.entities_revision));
        record.known(",\"via\":", self.via.into_str());
        record.known(",\"request_id\":", self.request_id);
        if let Some(caller) = self.caller {
            record.object("caller", |members| caller.write(members));
        }
        record.known(",\"subject\":", self.subject);
        record.known(",\"domain\":", self.domain);
        record.known(",\"resource\":", self.resource);
        record.known(",\"action\":", &self.action.text());
        let sent = self.sent_places(minimisation);
        record.attributes(sent, |members| self.write_attributes(minimisation, members));
        let nested = [
            ("token", self.token),
            ("directory", self.directory),
            ("relations", self.relations),
            ("resolved", self.resolved),
        ];
        for (name, write) in nested {
            if let Some(write) = write {
                record.shared_object(name, write);
            }
        }
        if !self.assumed.is_empty() {
            record.assumed(self.assumed);
        }
        self.write_outcome(&mut record);
        record.end();
        bounds.uses
    }

    /// Appends the members by which allows that are left out are counted, after the id and the instant of a record.
    pub(crate) fn encode_group(&self, out: &mut Vec<u8>) {
        let mut bounds = Bounds::new(0);
        let mut record = RecordMembers::following(out, &mut bounds);
        record.known(",\"tenant\":", self.tenant);
        record.known(",\"via\":", self.via.into_str());
        record.known(",\"domain\":", self.domain);
        record.known(",\"resource\":", self.resource);
        record.known(",\"action\":", &self.action.text());
        record.known(",\"decision\":", self.decision.into_str());
        record.display("rule", &self.rule);
    }

    /// Appends a record that stands for decisions that were left out, up to their number.
    pub(crate) fn encode_count((id, at): (Uuid, Timestamp), group: &[u8], out: &mut Vec<u8>) {
        let mut bounds = Bounds::new(0);
        let mut record = RecordMembers::begin(out, (None, None), &mut bounds);
        record.raw("\"id\":", |out| write_id(out, id));
        record.raw(",\"time\":", |out| write_instant(out, at));
        out.extend_from_slice(group);
        out.extend_from_slice(NOT_OF_A_COUNT);
        out.extend_from_slice(LEFT_OUT);
    }

    /// Returns where the attributes are that were sent; `None` for a check that came alone, and if not all records of checks that
    /// sent them have the same of them.
    fn sent_places(&self, minimisation: Option<&Minimisation>) -> Option<SentKey> {
        // Checks with other plans may leave others out, and an action that was not sent is among them.
        let is_left_out = matches!(self.action, Action::Encoded(_));
        if self.texts.is_none()
            || is_left_out
            || minimisation.is_some_and(Minimisation::depends_on_plan)
        {
            return None;
        }
        let Attributes { user, resource, action, context } = self.attributes;
        let (user, resource) = (user.sent_place()?, resource.sent_place()?);
        Some([user, resource, action.sent_place()?, context.sent_place()?])
    }

    fn write_attributes(
        &self,
        minimisation: Option<&Minimisation>,
        members: &mut RecordMembers<'_>,
    ) {
        if let Action::Encoded(_) = self.action {
            // Rules match it in both forms, and only where it was not sent.
            members.object("request", |members| members.json("action", &Json::Null));
        }
        let Attributes { user, resource, action, context } = self.attributes;
        let sent =
            [("user", user), ("resource", resource), ("action", action), ("context", context)];
        for (namespace, attributes) in sent {
            let mut all = attributes.named().peekable();
            if all.peek().is_none() {
                continue;
            }
            members.object(namespace, |members| {
                for (name, value) in all {
                    let is_unread = minimisation.is_some_and(|terms| {
                        terms.only_if_read(namespace, name) && !(self.reads)(namespace, name)
                    });
                    if !is_unread {
                        members.sent_attribute(namespace, name, value);
                    }
                }
            });
        }
    }

    fn write_outcome(&self, record: &mut RecordMembers<'_>) {
        record.known(",\"decision\":", self.decision.into_str());
        match self.rule.0 {
            Some(id) => record.raw(",\"rule\":", |out| write_id(out, id)),
            None => record.display("rule", &self.rule),
        }
        record.display("reason", self.reason);
        record.list("undetermined", self.undetermined);
        if let Some(expected) = self.expected {
            record.text("expected", expected.into_str());
        }
        if let Some(shadow) = self.shadow {
            record.object("shadow", |members| {
                members.text("draft", shadow.draft);
                members.text("decision", shadow.decision.into_str());
            });
        }
        record.raw(",\"us\":", |out| write_integer(out, i64::from(self.us)));
        record.dropped();
    }
}

impl RecordedCaller<'_> {
    fn write(&self, members: &mut RecordMembers<'_>) {
        members.text("kind", self.kind.into_str());
        members.text("sub", self.sub);
        if let Some(iss) = self.iss {
            members.text("iss", iss);
        }
    }
}

impl fmt::Debug for RecordedDecision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedDecision")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .finish()
    }
}

fn write_id(out: &mut Vec<u8>, id: Uuid) {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    out.push(b'"');
    out.extend_from_slice(id.hyphenated().encode_lower(&mut text).as_bytes());
    out.push(b'"');
}
