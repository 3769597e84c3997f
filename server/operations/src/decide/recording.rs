//! The records of checks: what a check read becomes its record (`docs/semantics.md`, section 17).

use std::collections::BTreeMap;

use portcullis_auth::CheckCaller;
use portcullis_decision_log::{
    RecordMembers, Recorded, RecordedCaller, RecordedDecision, RecordedShadow,
};
use portcullis_engine::relation::RELATION;
use portcullis_engine::request::Roles;
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{AttributeAnswer, AttributeAnswers, Check, Json, Plan, Supply};
use portcullis_model::decision::{ABSENT, CallerKind, Via};
use portcullis_resolvers::AnswerOrigin;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use uuid::{Builder, Uuid};

use super::recorded_checks::{LoggedRequest, Made, RecordedRequest};
use super::shadowing::{self, ShadowDecision};

/// The record of a decision that the answer may have to wait for.
#[derive(Debug)]
pub(crate) struct Recording {
    id: Uuid,
    recorded: Recorded,
}

impl Recording {
    /// Waits until the record is on disk, if the tenant demands that. Returns its id; `None` if there is no record.
    ///
    /// # Errors
    /// There is none, and the tenant refuses decisions without one.
    pub(crate) async fn settled(self) -> Result<Option<Uuid>, OperationError> {
        Ok(self.recorded.settled().await?.then_some(self.id))
    }

    /// Returns the id of the record, if there is one or will be one.
    fn kept(&self) -> Option<Uuid> {
        self.recorded.is_kept().then_some(self.id)
    }
}

/// Compares what was decided with the draft that the tenant has in shadow, and records it, if the operator keeps a log and the
/// terms of the tenant say so.
pub(crate) fn record(
    app: &App,
    request: Option<RecordedRequest<'_>>,
    made: &Made<'_>,
) -> Option<Recording> {
    let request = request?;
    if !made.cached.has_shadow() {
        return record_with(app, request, made, None);
    }
    let shadow = shadowing::decide(app, made);
    let recording = record_with(app, request, made, shadow.as_ref());
    // Counted last, because a group of differences has the ids of records.
    if let Some(shadow) = shadow {
        shadow.count(app, made, recording.as_ref().and_then(Recording::kept));
    }
    recording
}

fn record_with(
    app: &App,
    request: RecordedRequest<'_>,
    made: &Made<'_>,
    shadow: Option<&ShadowDecision>,
) -> Option<Recording> {
    let (recorder, logged) = (app.recorder.as_ref()?, request.log?);
    recorder.with_terms(made.tenant, made.question.plan.facts(), |terms| {
        if terms.are_off() {
            return None;
        }
        let id = new_id(&made.question.sent);
        let undetermined = made.decision.undetermined().next().is_some();
        let origin = (request.via, request.caller, logged);
        let completed = made.question.completed();
        let recorded =
            Inputs { made, completed: &completed }.with_record(id, origin, shadow, |record| {
                recorder.record(terms, record, undetermined)
            });
        Some(Recording { id, recorded })
    })
}

/// Returns a UUIDv7 of the instant of a check. Each thread draws its random bits from its own generator, as for ids
/// of requests.
fn new_id(check: &Check<'_>) -> Uuid {
    let millis = u64::try_from(check.now.timestamp_millis()).unwrap_or_default();
    let mut random = [0; 10];
    fastrand::fill(&mut random);
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// A decision with the inputs that its record names.
struct Inputs<'i> {
    made: &'i Made<'i>,
    /// The check with what the directory supplied.
    completed: &'i Check<'i>,
}

impl Inputs<'_> {
    /// Calls `use_it` with the record, which borrows everything.
    fn with_record<T>(
        &self,
        id: Uuid,
        (via, by, logged): (Via, &CheckCaller, LoggedRequest<'_>),
        shadow: Option<&ShadowDecision>,
        use_it: impl FnOnce(&RecordedDecision<'_>) -> T,
    ) -> T {
        let Made { tenant, revisions: (revision, entities), decision, .. } = *self.made;
        let sent = &self.made.question.sent;
        let has_claims = self.plan().claims().next().is_some() || self.takes_token();
        let attributes = &self.completed.attributes;
        let is_supplied = self.roles().is_some()
            || attributes.user.from_directory().next().is_some()
            || attributes.resource.from_directory().next().is_some();
        let (has_relations, has_answers) = (
            self.answers().for_namespace(RELATION).next().is_some(),
            !self.made.origins.is_empty(),
        );
        let elapsed = logged.began.elapsed().as_micros();
        use_it(&RecordedDecision {
            id,
            at: sent.now.into(),
            tenant,
            revision: number(revision),
            entities_revision: number(entities.unwrap_or_default()),
            via,
            request_id: logged.id,
            caller: Some(caller(by)),
            subject: sent.subject,
            domain: sent.domain,
            resource: sent.resource,
            action: sent.action,
            attributes: sent.attributes,
            reads: &|namespace, name| self.reads(namespace, name),
            token: has_claims.then_some(&|members| self.write_token(members)),
            directory: is_supplied.then_some(&|members| self.write_directory(members)),
            relations: has_relations.then_some(&|members| self.write_relations(members)),
            assumed: self.made.assumed,
            resolved: has_answers.then_some(&|members| self.write_resolved(members)),
            decision: decision.effect(),
            rule: decision.matched_rule_id(),
            reason: &decision.worded(),
            undetermined: &|texts| {
                let paths = self.plan().undetermined(self.completed, self.answers(), decision);
                paths.into_iter().for_each(|path| texts.display(path));
            },
            expected: sent.expected,
            shadow: shadow.map(|one| RecordedShadow { draft: one.draft(), decision: one.effect }),
            // In microseconds, with room for 71 minutes.
            us: u32::try_from(elapsed).unwrap_or(u32::MAX),
            texts: self.made.texts,
        })
    }

    fn plan(&self) -> &Plan {
        self.made.question.plan
    }

    fn answers(&self) -> &AttributeAnswers {
        self.made.question.answers()
    }

    fn takes_token(&self) -> bool {
        self.completed.attributes.user.from_token().next().is_some()
    }

    /// Returns whether a policy reads an attribute, or what is behind it.
    fn reads(&self, namespace: &str, name: &str) -> bool {
        let attributes = &self.completed.attributes;
        self.plan().reads(namespace, name)
            || match namespace {
                "user" => attributes.user.is_followed(name),
                "resource" => attributes.resource.is_followed(name),
                _ => false,
            }
    }

    /// Returns the roles that the request does not have. Other rules may read those that the plan does not.
    fn roles(&self) -> Option<Roles<'_>> {
        let is_sent = matches!(self.completed.roles, Roles::Supplied(_));
        (!is_sent).then_some(self.completed.roles)
    }

    /// Writes the claims that a policy reads, and those that stand for properties of the subject.
    fn write_token(&self, members: &mut RecordMembers<'_>) {
        let Some(claims) = self.made.question.sent.claims else { return };
        for path in self.plan().claims() {
            if let Some(claim) = claims.claim(path) {
                members.json_attribute("token", path, claim);
            }
        }
        // What a policy reads as a claim is written above.
        let properties = self.completed.attributes.user.from_token();
        for (name, value) in properties.filter(|(name, _)| !self.plan().reads("token", name)) {
            members.attribute("token", name, value);
        }
    }

    /// Writes what the directory supplied and a policy reads, with the references that lead there.
    fn write_directory(&self, members: &mut RecordMembers<'_>) {
        let attributes = &self.completed.attributes;
        for (namespace, map) in [("user", attributes.user), ("resource", attributes.resource)] {
            if map.from_directory().next().is_none() {
                continue;
            }
            members.object(namespace, |members| {
                let supplied = map.from_directory();
                for (name, value) in supplied.filter(|(name, _)| self.plan().reads(namespace, name))
                {
                    members.attribute(namespace, name, value);
                }
                let followed: BTreeMap<String, &str> = map.followed_in_directory().collect();
                for (name, id) in followed {
                    if !self.plan().reads(namespace, &name) {
                        members.attribute(namespace, &name, AttributeValue::Text(id));
                    }
                }
            });
        }
        if let Some(roles) = self.roles()
            && members.roles(roles.iter())
        {
            let own = self.made.question.supply().and_then(Supply::own_roles);
            // With other inclusions the subject's own roles include other roles.
            if let Some(own) = own.filter(|own| roles.iter().nth(*own).is_some()) {
                members.integer("own_roles", i64::try_from(own).unwrap_or(i64::MAX));
            }
        }
    }

    /// Writes the relations; `null` stands for one without an answer, and [`ABSENT`] for one that is absent.
    fn write_relations(&self, members: &mut RecordMembers<'_>) {
        for (name, answer) in self.answers().for_namespace(RELATION) {
            match answer {
                AttributeAnswer::Value(value) => members.json(name, value),
                AttributeAnswer::Absent => members.text(name, ABSENT),
                AttributeAnswer::Failed(_) => members.json(name, &Json::Null),
            }
        }
    }

    fn write_resolved(&self, members: &mut RecordMembers<'_>) {
        for origin in self.made.origins {
            members.object(origin.namespace, |members| self.write_origin(origin, members));
        }
    }

    fn write_origin(&self, origin: &AnswerOrigin<'_>, members: &mut RecordMembers<'_>) {
        let all = self.answers();
        members.object("values", |members| {
            for (name, answer) in all.for_namespace(origin.namespace) {
                match answer {
                    AttributeAnswer::Value(value) => {
                        members.json_attribute(origin.namespace, name, value);
                    }
                    AttributeAnswer::Absent => {
                        members.json_attribute(origin.namespace, name, &Json::Null);
                    }
                    AttributeAnswer::Failed(_) => {}
                }
            }
        });
        let mut answers = all.for_namespace(origin.namespace);
        if answers.any(|(_, answer)| matches!(answer, AttributeAnswer::Failed(_))) {
            members.object("failed", |members| {
                for (name, answer) in all.for_namespace(origin.namespace) {
                    if let AttributeAnswer::Failed(cause) = answer {
                        members.text(name, cause);
                    }
                }
            });
        }
        if let Some(resolver) = self.plan().resolver(origin.namespace) {
            members.integer("version", number(resolver.version));
        }
        if let Some(elapsed) = origin.elapsed {
            members.integer("us", i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX));
        }
        members.text("source", origin.source.into());
    }
}

/// Returns a caller as records name it.
pub(crate) fn caller(caller: &CheckCaller) -> RecordedCaller<'_> {
    match caller {
        CheckCaller::Member(holder) => {
            let caller = holder.identity.caller();
            let iss = caller.claims.claim("iss").and_then(|iss| iss.as_str());
            RecordedCaller { kind: CallerKind::Token, sub: caller.subject, iss }
        }
        CheckCaller::Key(key) => {
            RecordedCaller { kind: CallerKind::Key, sub: key.actor(), iss: None }
        }
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
