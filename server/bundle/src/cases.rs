//! The cases of a tenant: `cases.yaml`.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use portcullis_engine::fields::{Fields, string, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::request::instant;
use portcullis_engine::{CheckBody, DEFAULT_DENY, Effect, Json};

use portcullis_model::policy::NewPolicy;

use crate::given_answers::{self, GivenAnswers};
use crate::resolvers::{self, ResponsesByNamespace, SampleResolver};
use crate::rulebook::Rulebook;
use crate::users::TENANT_FILE;

/// Longest name of a case, in characters.
const MAX_CASE_NAME: usize = 256;
/// The value of `undetermined` in a case whose decision may rest on an undetermined condition.
const ALLOWED: &str = "allowed";

/// A check, and what must come out of it.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    /// The `sub` of the sample user whose token the check comes with.
    pub caller: Option<String>,
    /// The instant of the check; without one the case must not depend on it.
    pub now: Option<DateTime<Utc>>,
    /// The request body.
    pub check: Json<'static>,
    /// Answers that stand for calls of resolvers. The other resolvers are called.
    pub resolved: GivenAnswers,
    /// Responses to the requests of resolvers, before those of `resolvers.yaml`.
    pub responses: ResponsesByNamespace,
    /// Whether the decision may rest on an undetermined condition.
    pub undetermined_allowed: bool,
    pub expected: Expected,
    /// The case as it is written.
    pub json: Json<'static>,
}

/// The answer that a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub decision: Effect,
    /// The name of the part that decides: a policy's name, a rule's tuple, or [`DEFAULT_DENY`].
    pub rule: String,
}

/// The names that a case may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaseNames<'n> {
    /// The `sub` of each user whose token a check may come with.
    pub(super) users: &'n [&'n str],
    /// The resolvers whose answers it may have; `None` accepts every one.
    pub(super) resolvers: Option<&'n [SampleResolver]>,
    /// The policies and rules that it may expect; `None` accepts every one.
    pub(super) deciders: Option<&'n HashSet<String>>,
}

impl Case {
    /// Reads a case that may use these names.
    pub(super) fn read<'j>(
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
        names: CaseNames<'_>,
    ) -> Option<Self> {
        let CaseNames { users, resolvers, deciders } = names;
        let mut fields = Fields::open(json, at, problems)?;
        let name = fields.required("name", text(MAX_CASE_NAME));
        let caller = fields.optional("as", |json, at, problems| {
            let sub = string(json, at, problems)?;
            if !users.contains(&sub) {
                problems.expected(at, format!("the `sub` of a user of {TENANT_FILE}, not `{sub}`"));
            }
            Some(sub.to_owned())
        });
        let now = fields.optional("now", instant);
        let check = fields.required("check", |json: &'j Json<'j>, at, problems| {
            CheckBody::read(json, at, problems).map(|_| json.clone().into_owned())
        });
        let resolved = fields.optional("resolved", |json, at, problems| {
            given_answers::read(json, at, problems, resolvers)
        });
        let responses = fields.optional("responses", |json, at, problems| {
            resolvers::responses(json, at, problems, resolvers)
        });
        let (resolved, responses) = (resolved.unwrap_or_default(), responses.unwrap_or_default());
        if let Some(both) = resolved.namespaces.iter().find(|name| responses.contains_key(*name)) {
            let what = format!("no responses for `{both}`, whose answers are in `resolved`");
            fields.expected_at("responses", what);
        }
        let undetermined = fields.optional("undetermined", |json, at, problems| {
            if json.as_str() != Some(ALLOWED) {
                problems.expected(at, format!("`{ALLOWED}`"));
            }
            Some(())
        });
        let expected = fields
            .required("expect", |json, at, problems| Expected::read(json, at, problems, deciders));
        fields.close();
        Some(Self {
            name: name?.to_owned(),
            caller,
            now,
            check: check?,
            resolved,
            responses,
            undetermined_allowed: undetermined.is_some(),
            expected: expected?,
            json: json.clone().into_owned(),
        })
    }
}

impl Expected {
    fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        deciders: Option<&HashSet<String>>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let decision = fields.required("decision", Effect::read);
        let rule = fields.required("rule", |json, at, problems| {
            let rule = string(json, at, problems)?;
            if deciders.is_some_and(|known| !known.contains(rule)) {
                problems.expected(at, format!("{DECIDER}, not `{rule}`"));
            }
            Some(rule.to_owned())
        });
        fields.close();
        Some(Self { decision: decision?, rule: rule? })
    }
}

const DECIDER: &str =
    "the name of a policy, a rule written `sub, dom, obj, act`, or `default-deny`";

/// Everything that a case may expect to decide. A policy that is not enabled never does, but naming it
/// is a wrong expectation, not a mistyped one.
pub(super) fn deciders(rulebook: &Rulebook, policies: &[NewPolicy]) -> HashSet<String> {
    let named = rulebook.named().map(|(_, name)| name);
    let policies = policies.iter().map(|policy| policy.name.clone());
    named.chain(policies).chain([DEFAULT_DENY.to_owned()]).collect()
}
