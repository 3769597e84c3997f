//! The body of a replay (`docs/semantics.md`, section 18.1).

use std::str::FromStr;

use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::names::names;
use portcullis_engine::{Invalid, Json, fields};
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionSelection, Via};
use portcullis_model::fields::{boolean, instant, string};
use portcullis_model::input::{Field, Members, derived, field, object};
use portcullis_model::revision::revision;
use portcullis_model::schema::{self, AnySchema};

use crate::apply::ApplyRequest;

/// The rules on which recorded decisions are decided again.
#[derive(Debug)]
pub enum ReplayCandidate {
    /// The rules of the tenant with this draft.
    Draft(String),
    /// The rules of a revision that is kept.
    Revision(u64),
    /// The present rules, with the kinds that a bundle names replaced by the bundle's.
    Bundle(Box<BundleDocument>),
    /// The rules that this apply would make of the present ones.
    Apply(Box<ApplyRequest>),
}

/// The body of `POST /api/v1/replays`.
#[derive(Debug)]
pub struct ReplayRequest {
    pub candidate: ReplayCandidate,
    pub selection: DecisionSelection,
}

impl ReplayRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, context: DocumentContext<'_>) -> Result<Self, Invalid> {
        context.parse(json, Self::declare)
    }

    /// Names the members of the body.
    pub fn declare(members: &mut Members<'_, '_>, context: DocumentContext<'_>) -> Option<Self> {
        let candidate = members.required("candidate", candidate(context));
        let from = members.optional("from", instant().map(Timestamp::from));
        let to = members.optional("to", instant().map(Timestamp::from));
        let filter = members.optional("filter", object(declare_filter));
        let selection = DecisionSelection { from, to, ..filter.unwrap_or_default() };
        Some(Self { candidate: candidate?, selection })
    }
}

fn candidate<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = ReplayCandidate> {
    let about = "One of them: the name of a draft, a revision that is kept, a bundle that takes the place of the kinds \
                 that it names, or the body of an apply";
    let candidates = object(move |members: &mut Members<'j, '_>| {
        let draft = members.optional("draft", string()).map(ReplayCandidate::Draft);
        let revision = members.optional("revision", revision()).map(ReplayCandidate::Revision);
        let bundle = members.optional("bundle", BundleDocument::field(context));
        let bundle = bundle.map(|bundle| ReplayCandidate::Bundle(Box::new(bundle)));
        let apply = members.optional("apply", ApplyRequest::field(context));
        let apply = apply.map(|apply| ReplayCandidate::Apply(Box::new(apply)));
        Some(draft.or(revision).or(bundle).or(apply))
    });
    let candidate = derived(
        candidates,
        |candidate, json, at, problems| {
            // Read first, so that the faults of each member are noted as well.
            let read = candidate.read(json, at, problems);
            let is_one = json.as_object().is_some_and(|members| members.len() == 1);
            if !is_one {
                problems.expected(at, "one of `draft`, `revision`, `bundle` and `apply`");
                return None;
            }
            read?
        },
        Field::schema,
    );
    candidate.about(about)
}

/// Names the part of a selection that is not its time.
fn declare_filter(members: &mut Members<'_, '_>) -> Option<DecisionSelection> {
    Some(DecisionSelection {
        from: None,
        to: None,
        subject: members.optional("subject", string()),
        resource: members.optional("resource", string()),
        action: members.optional("action", string()),
        rule: members.optional("rule", string()),
        request_id: members.optional("request_id", string()),
        decision: members.optional("decision", word("`allow` or `deny`", schema::effect)),
        via: members.optional(
            "via",
            word("`check`, `legacy`, `batch` or `authzen`", || schema::choice(names::<Via>())),
        ),
        undetermined: members.optional("undetermined", boolean()),
    })
}

fn word<'j, T: FromStr, A: Into<AnySchema>>(
    expected: &'static str,
    schema: impl Fn() -> A,
) -> impl Field<'j, Value = T> {
    field(
        move |json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems| {
            let read = fields::string(json, at, problems)?.parse().ok();
            if read.is_none() {
                problems.expected(at, expected);
            }
            read
        },
        schema,
    )
}
