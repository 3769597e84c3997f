//! The cases of a tenant: `cases.yaml`.

use std::collections::HashSet;
use std::fmt;

use chrono::{DateTime, Utc};
use portcullis_engine::fields::{list, string as read_string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_engine::{ActionTerms, CheckBody, DEFAULT_DENY, Decision, Effect, Json};
use serde::Serialize;
use serde_json::json;

use portcullis_model::check::FileCheck;
use portcullis_model::fields::{effect, instant, text};
use portcullis_model::input::{self, Field, Members, field, object};
use portcullis_model::policy::NewPolicy;
use portcullis_model::relation::{NewTuple, tuples};
use portcullis_model::{document, schema};

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
    /// Responses to the requests of resolvers, before the responses of `resolvers.yaml`.
    pub responses: ResponsesByNamespace,
    /// Tuples that count in the check, beside the tuples of its folder; `None` if the case says nothing about them.
    pub relations: Option<Vec<NewTuple>>,
    /// Whether the decision may rest on an undetermined condition.
    pub undetermined_allowed: bool,
    pub expected: Expected,
    /// The case as it is written.
    pub json: Json<'static>,
}

/// The answer that a case expects or gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expected {
    pub decision: Effect,
    /// The name of the part that decides: a policy's name, a rule's tuple, or [`DEFAULT_DENY`]. `None` if the case expects a
    /// decision alone; what a case gets always has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

document!(Case, naming FileCheck, NewTuple => {
    let names = CaseNames { users: &[], resolvers: None, deciders: None };
    input::describe(|members| Case::declare(members, names))
        .about("A check with the answer that is expected")
        .example(json!({
            "name": "a reader reads",
            "as": "ann",
            "check": {"subject": "ann", "resource": "wiki:read", "action": "read"},
            "expect": {"decision": "allow", "rule": "reader, acme, wiki:read, read"},
        }))
});

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

/// Reads cases that may use these names, and whose checks have attributes that `types` declare and actions that the setting
/// allows.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    names: CaseNames<'_>,
    (types, actions): (&Types, ActionTerms),
) -> Option<Vec<Case>> {
    let cases = list(|json, at: &Place<'_>, problems: &mut Problems| {
        Case::read(json, at, problems, names)
    })(json, at, problems)?;
    for (index, case) in cases.iter().enumerate() {
        case.check_attributes(types, &at.index(index), problems);
        case.check_action(actions, &at.index(index), problems);
    }
    Some(cases)
}

impl Case {
    /// Returns the tuples that count in the check beside those of the folder.
    pub fn tuples(&self) -> &[NewTuple] {
        self.relations.as_deref().unwrap_or_default()
    }

    /// Notes the attributes in the check of the case at `at` that `types` do not declare.
    pub fn check_attributes(&self, types: &Types, at: &Place<'_>, problems: &mut Problems) {
        let attributes = self.check.get("attributes");
        // The resource tells the type whose properties the attributes are.
        if let (Some(resource), Some(attributes)) = (self.asked("resource"), attributes) {
            let at = at.key("check");
            types.check_attributes(resource, attributes, &at.key("attributes"), problems);
        }
    }

    /// Notes the action in the check of the case at `at` if `terms` do not allow it.
    pub fn check_action(&self, terms: ActionTerms, at: &Place<'_>, problems: &mut Problems) {
        if let (Some(resource), Some(action)) = (self.asked("resource"), self.asked("action"))
            && let Some(expected) = terms.fault(action, resource)
        {
            problems.expected(&at.key("check").key("action"), expected);
        }
    }

    /// Returns a text of the check.
    fn asked(&self, name: &str) -> Option<&str> {
        self.check.get(name).and_then(Json::as_str)
    }

    /// Reads a case that may use these names.
    pub(super) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        names: CaseNames<'_>,
    ) -> Option<Self> {
        let case = input::read(json, at, problems, |members| Self::declare(members, names))?;
        // The declaration sees members and not the whole value, so the text of the case is put in here.
        Some(Self { json: json.clone().into_owned(), ..case })
    }

    /// Declares the members; the case is not yet as it is written.
    fn declare(members: &mut Members<'_, '_>, names: CaseNames<'_>) -> Option<Self> {
        let CaseNames { users, resolvers, deciders } = names;
        let name = text(MAX_CASE_NAME).about(
            "What the case shows; unique in the file. `portcullis dev` shows cases that begin with `demo: `",
        );
        let now = instant().about("The time of the check; 2026-01-15T10:00:00Z when absent");
        let expected = object(|members| Expected::declare(members, deciders))
            .about("The answer that the check must have");
        let name = members.required("name", name);
        let caller = members.optional("as", caller(users));
        let now = members.optional("now", now);
        let check = members.required("check", check());
        let resolved = members.optional("resolved", given_answers::given(resolvers));
        let responses = members.optional("responses", resolvers::responses(resolvers));
        let (resolved, responses) = (resolved.unwrap_or_default(), responses.unwrap_or_default());
        // A resolver with given answers is not called, so responses to its requests would never be used.
        if let Some(both) = resolved.namespaces.iter().find(|name| responses.contains_key(*name)) {
            let what = format!("no responses for `{both}`, whose answers are in `resolved`");
            members.expected_at("responses", what);
        }
        let about = "Tuples that count in the check, beside the tuples of `relations.yaml`. A gate knows these alone";
        let relations = members.optional("relations", tuples().about(about));
        let undetermined = members.optional("undetermined", undetermined());
        let expected = members.required("expect", expected);
        // Only here, after every member has noted its faults.
        Some(Self {
            name: name?,
            caller,
            now,
            check: check?,
            resolved,
            responses,
            relations,
            undetermined_allowed: undetermined.is_some(),
            expected: expected?,
            json: Json::Null,
        })
    }
}

/// The `sub` of one of `users`.
fn caller<'j>(users: &[&str]) -> impl Field<'j, Value = String> {
    field(|json, at, problems| read_caller(json, at, problems, users), schema::string).about(
        "The `sub` of the user of tenant.yaml whose token the check comes with; when absent there is no token",
    )
}

fn read_caller(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    users: &[&str],
) -> Option<String> {
    let sub = read_string(json, at, problems)?;
    // The fault is noted, and the value still returned, so that later checks of the case go on.
    if !users.contains(&sub) {
        problems.expected(at, format!("the `sub` of a user of {TENANT_FILE}, not `{sub}`"));
    }
    Some(sub.to_owned())
}

/// The body of a check.
fn check<'j>() -> impl Field<'j, Value = Json<'static>> {
    field(read_check, schema::named::<FileCheck>)
}

fn read_check(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Json<'static>> {
    CheckBody::read(json, at, problems).map(|_| json.clone().into_owned())
}

/// The word that allows a decision to rest on an undetermined condition.
fn undetermined<'j>() -> impl Field<'j, Value = ()> {
    field(read_undetermined, || schema::choice([ALLOWED])).about(
        "With `allowed` the decision may rest on a condition that is undetermined; without, such a case fails",
    )
}

fn read_undetermined(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<()> {
    if json.as_str() != Some(ALLOWED) {
        problems.expected(at, format!("`{ALLOWED}`"));
    }
    Some(())
}

impl Expected {
    fn declare(members: &mut Members<'_, '_>, deciders: Option<&HashSet<String>>) -> Option<Self> {
        let decision = members.required("decision", effect().about("The decision"));
        let rule = members.optional("rule", decider(deciders));
        Some(Self { decision: decision?, rule })
    }

    /// Returns the answer of `decision`, whose decider `rulebook` names.
    pub fn of(rulebook: &Rulebook, decision: &Decision<'_>) -> Self {
        Self { decision: decision.effect(), rule: Some(rulebook.name(decision.rule_id())) }
    }

    /// Returns whether a case that expects this passes with the answer `got`.
    pub fn admits(&self, got: &Self) -> bool {
        // A case without a rule is content with the decision, whatever makes it.
        self.decision == got.decision && (self.rule.is_none() || self.rule == got.rule)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Some(rule) => write!(f, "{} by `{rule}`", self.decision),
            None => self.decision.fmt(f),
        }
    }
}

/// The name of one of `deciders`, or without them any name.
fn decider<'j>(deciders: Option<&HashSet<String>>) -> impl Field<'j, Value = String> {
    field(move |json, at, problems| read_decider(json, at, problems, deciders), schema::string).about(
        "What decides: the name of a policy, a rule written `sub, dom, obj, act`, or `default-deny`; any when absent",
    )
}

fn read_decider(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    deciders: Option<&HashSet<String>>,
) -> Option<String> {
    let rule = read_string(json, at, problems)?;
    // As with `as`, the note alone makes the case invalid, and the value still counts in other checks.
    if deciders.is_some_and(|known| !known.contains(rule)) {
        problems.expected(at, format!("{DECIDER}, not `{rule}`"));
    }
    Some(rule.to_owned())
}

const DECIDER: &str =
    "the name of a policy, a rule written `sub, dom, obj, act`, or `default-deny`";

/// Everything that a case may expect to decide. A policy that is not enabled never does, but naming it
/// is a wrong expectation, not a mistyped one.
pub(super) fn deciders(rulebook: &Rulebook, policies: &[NewPolicy]) -> HashSet<String> {
    // The rulebook has only what is in force, so disabled policies come from the list of all.
    let named = rulebook.named().map(|(_, name)| name);
    let policies = policies.iter().map(|policy| policy.name.clone());
    named.chain(policies).chain([DEFAULT_DENY.to_owned()]).collect()
}
