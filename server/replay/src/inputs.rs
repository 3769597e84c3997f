//! A record as the check that it was.

use std::borrow::Cow;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use portcullis_engine::json::Member;
use portcullis_engine::relation::RELATION;
use portcullis_engine::request::{Action, AttributeMap, Attributes, Roles};
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, Check, CheckKind, DEFAULT_DENY, Decision, Effect, Json,
    KnownEntities, OpenQuestion, Plan, Verdict, json,
};
use portcullis_model::decision::{ABSENT, HASHED, Via};
use uuid::Uuid;

use crate::record_values::{RecordValues, places};

/// The reason why a record cannot be decided again: it is not what the service writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// A recorded decision, and everything that it was made from beside the rules. Borrows from the text of the record.
#[derive(Debug)]
pub struct RecordedInputs<'r> {
    pub(crate) id: Uuid,
    pub(crate) subject: Cow<'r, str>,
    domain: Cow<'r, str>,
    pub(crate) resource: Cow<'r, str>,
    action: Cow<'r, str>,
    pub(crate) decision: Effect,
    /// The rule or policy that decided; `None` is the default.
    pub(crate) rule: Option<Uuid>,
    /// Whether it was decided by RBAC alone.
    pub(crate) is_legacy: bool,
    now: DateTime<Utc>,
    attributes: Json<'r>,
    /// The claims that were read; `None` without a token.
    pub(crate) claims: Option<Json<'r>>,
    pub(crate) directory: Json<'r>,
    /// The answers of relations and resolvers.
    answers: AttributeAnswers,
    has_relations: bool,
    /// Whether the caller is the subject: then the roles come from its token.
    pub(crate) is_caller: bool,
    /// The attributes that are hashed or left out, by namespace and name.
    treated: Vec<(String, String)>,
}

impl<'r> RecordedInputs<'r> {
    /// Reads the JSON text of a [`DecisionRecord`](portcullis_model::decision::DecisionRecord), in one pass: a replay reads
    /// millions of them.
    ///
    /// # Errors
    /// [`Unreadable`]
    pub fn read(text: &'r [u8]) -> Result<Self, Unreadable> {
        let Ok(Json::Object(members)) = json::parse(text) else { return Err(Unreadable) };
        let mut values = RecordValues::new(members);
        let [id, time, via, caller] =
            values.take(const { places(["id", "time", "via", "caller"]) });
        let [subject, domain, resource, action] =
            values.take(const { places(["subject", "domain", "resource", "action"]) });
        let [attributes, token, directory, relations] =
            values.take(const { places(["attributes", "token", "directory", "relations"]) });
        let [resolved, dropped, decision, rule] =
            values.take(const { places(["resolved", "dropped", "decision", "rule"]) });
        let subject = text_of(subject)?;
        let has_token = caller.get("kind").and_then(Json::as_str) == Some("token");
        let is_caller = has_token && caller.get("sub").and_then(Json::as_str) == Some(&*subject);
        let mut treated = Vec::new();
        let dropped = dropped.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
        // The namespace has no dot, but the name may have some.
        let dropped = dropped.filter_map(|path| path.split_once('.'));
        treated.extend(dropped.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())));
        for namespaces in [&attributes, &directory] {
            for (namespace, members) in members_of(Some(namespaces)) {
                note_hashed(namespace, members, &mut treated);
            }
        }
        // Roles are beside the namespaces of the directory, and not in one.
        note_hashed_value("user", "roles", directory.get("roles"), &mut treated);
        let claims = has_token.then_some(token);
        if let Some(claims) = &claims {
            note_hashed("token", claims, &mut treated);
        }
        let mut answers = AttributeAnswers::default();
        add_relations(&relations, &mut answers);
        add_resolved(&resolved, &mut answers, &mut treated);
        let time = DateTime::parse_from_rfc3339(&text_of(time)?).map_err(|_| Unreadable)?;
        let rule = text_of(rule)?;
        Ok(Self {
            id: word(id)?,
            subject,
            domain: text_of(domain)?,
            resource: text_of(resource)?,
            action: text_of(action)?,
            decision: word(decision)?,
            // The default has a name in the place of an id.
            rule: (rule != DEFAULT_DENY)
                .then(|| rule.parse())
                .transpose()
                .map_err(|_| Unreadable)?,
            is_legacy: word::<Via>(via)? == Via::Legacy,
            now: time.to_utc(),
            attributes,
            claims,
            directory,
            answers,
            has_relations: relations != Json::Null,
            is_caller,
            treated,
        })
    }

    /// Calls `use_it` with the check as it was completed, by the rules of `plan`, and with the answers of relations and
    /// resolvers. `known` is what the directory said.
    pub fn with_check<T>(
        &self,
        known: KnownEntities<'_>,
        plan: &Plan,
        use_it: impl FnOnce(&Check<'_>, &AttributeAnswers) -> T,
    ) -> T {
        let facts = self.facts(known);
        use_it(&self.question(&facts, plan).completed(), &self.answers)
    }

    /// Decides the check by `plan`, with the answers that `answers` makes of the recorded ones. `None` if the plan asks for
    /// an answer that is not recorded.
    pub(crate) fn decide<'p>(
        &self,
        known: KnownEntities<'_>,
        plan: &'p Plan,
        with_relations: bool,
    ) -> Option<Decision<'p>> {
        let without;
        let answers = match with_relations || !self.has_relations {
            true => &self.answers,
            false => {
                without = self.answers.without(RELATION);
                &without
            }
        };
        let facts = self.facts(known);
        match self.question(&facts, plan).with_answers(answers).verdict() {
            Verdict::Decided(decision) => Some(decision),
            Verdict::NeedsAttributes(_) => None,
        }
    }

    fn question<'p: 'q, 'q>(
        &'q self,
        facts: &'q KnownEntities<'q>,
        plan: &'p Plan,
    ) -> OpenQuestion<'p, 'q, KnownEntities<'q>> {
        let kind = if self.is_legacy { CheckKind::Legacy } else { CheckKind::Combined };
        OpenQuestion::new(plan, facts, self.sent(), kind)
    }

    /// Returns what the directory knew, with the roles of the subject itself.
    fn facts<'f>(&'f self, known: KnownEntities<'f>) -> KnownEntities<'f> {
        KnownEntities { roles: self.own_roles().map(Roles::Supplied), ..known }
    }

    /// Returns the check as it was sent.
    fn sent(&self) -> Check<'_> {
        let attributes = Attributes {
            user: self.sent_of("user"),
            resource: self.sent_of("resource"),
            action: self.sent_of("action"),
            context: self.sent_of("context"),
        };
        Check {
            subject: &self.subject,
            subject_type: None,
            resource: &self.resource,
            action: self.action(),
            domain: &self.domain,
            roles: match self.is_caller {
                true => Roles::Claimed(&[]),
                false => Roles::Supplied(attributes.user.roles().unwrap_or_default()),
            },
            attributes,
            claims: self.claims.as_ref(),
            now: self.now,
            relations: None,
            expected: None,
        }
    }

    /// Returns the action; a record says of an encoded verb that it stands for one that was not sent.
    fn action(&self) -> Action<'_> {
        let left_out =
            self.attributes.get("request").is_some_and(|all| all.get("action").is_some());
        Action::of((!left_out).then_some(&*self.action), &self.resource)
    }

    fn sent_of(&self, namespace: &str) -> AttributeMap<'_> {
        AttributeMap::from_members(members_of(self.attributes.get(namespace)))
    }

    /// Returns the roles of the subject itself; `None` if the request sent them.
    fn own_roles(&self) -> Option<&[Json<'_>]> {
        let roles = self.directory.get("roles")?.as_array()?;
        // Without a number, no included role is among them.
        let own = self.directory.get("own_roles").and_then(integer).unwrap_or(roles.len());
        Some(roles.get(..own).unwrap_or(roles))
    }

    /// Returns whether the record has the roles of the subject itself, as they were.
    pub(crate) fn has_recorded_roles(&self) -> bool {
        let roles = self.directory.get("roles").and_then(Json::as_array);
        roles.is_some_and(|roles| roles.iter().all(|role| role.as_str().is_some()))
    }

    /// Returns whether the request sent an attribute, as far as the record has it.
    pub(crate) fn is_sent(&self, namespace: &str, name: &str) -> bool {
        self.attributes.get(namespace).and_then(|all| all.get(name)).is_some()
    }

    /// Returns whether the directory supplied an attribute.
    pub(crate) fn is_supplied(&self, namespace: &str, name: &str) -> bool {
        self.directory.get(namespace).and_then(|all| all.get(name)).is_some()
    }

    /// Returns whether the request named the resource, so that the directory may know it.
    pub(crate) fn names_resource(&self) -> bool {
        let id = self.attributes.get("resource").and_then(|all| all.get("id"));
        id.and_then(Json::as_str).is_some()
    }

    /// Returns the attributes that are hashed or left out.
    pub(crate) fn treated(&self) -> impl Iterator<Item = (&str, &str)> {
        self.treated.iter().map(|(namespace, name)| (&**namespace, &**name))
    }
}

fn text_of(json: Json<'_>) -> Result<Cow<'_, str>, Unreadable> {
    match json {
        Json::String(text) => Ok(text),
        _ => Err(Unreadable),
    }
}

fn word<T: FromStr>(json: Json<'_>) -> Result<T, Unreadable> {
    text_of(json)?.parse().map_err(|_| Unreadable)
}

/// Returns the members of an object; an absent one is empty.
fn members_of<'j>(json: Option<&'j Json<'j>>) -> &'j [Member<'j>] {
    json.and_then(Json::as_object).unwrap_or_default()
}

fn integer(json: &Json<'_>) -> Option<usize> {
    match json {
        Json::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

fn add_relations(relations: &Json<'_>, answers: &mut AttributeAnswers) {
    for (name, value) in members_of(Some(relations)) {
        let answer = match value {
            Json::String(text) if text == ABSENT => AttributeAnswer::Absent,
            // The record says of a failed answer only that there was none; an earlier version said no more of an absent one.
            Json::Null => AttributeAnswer::Failed("the relations had no answer".into()),
            value => AttributeAnswer::Value(value.clone().into_owned()),
        };
        answers.insert(RELATION, name, answer);
    }
}

fn add_resolved(
    resolved: &Json<'_>,
    answers: &mut AttributeAnswers,
    treated: &mut Vec<(String, String)>,
) {
    for (namespace, answer) in members_of(Some(resolved)) {
        let values = answer.get("values");
        if let Some(values) = values {
            note_hashed(namespace, values, treated);
        }
        for (name, value) in members_of(values) {
            let answer = match value {
                Json::Null => AttributeAnswer::Absent,
                value => AttributeAnswer::Value(value.clone().into_owned()),
            };
            answers.insert(namespace, name, answer);
        }
        for (name, cause) in members_of(answer.get("failed")) {
            let cause = cause.as_str().unwrap_or_default().into();
            answers.insert(namespace, name, AttributeAnswer::Failed(cause));
        }
    }
}

/// Notes the attributes of a namespace that are hashed.
fn note_hashed(namespace: &str, attributes: &Json<'_>, treated: &mut Vec<(String, String)>) {
    for (name, value) in members_of(Some(attributes)) {
        note_hashed_value(namespace, name, Some(value), treated);
    }
}

/// Notes an attribute if its value, or an item of it, is hashed.
fn note_hashed_value(
    namespace: &str,
    name: &str,
    value: Option<&Json<'_>>,
    treated: &mut Vec<(String, String)>,
) {
    let is_hashed = match value {
        Some(Json::Array(items)) => items.iter().any(is_hash),
        value => value.is_some_and(is_hash),
    };
    if is_hashed {
        treated.push((namespace.to_owned(), name.to_owned()));
    }
}

fn is_hash(value: &Json<'_>) -> bool {
    value.get(HASHED).is_some()
}
