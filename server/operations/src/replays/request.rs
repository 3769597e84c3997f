//! The body of a replay (`docs/semantics.md`, section 18.1).

use std::str::FromStr;

use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::fields::{Fields, boolean, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json, request};
use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use portcullis_model::revision::read_revision;

use crate::apply::ApplyRequest;

/// The rules on which recorded decisions are decided again.
#[derive(Debug)]
pub enum ReplayCandidate {
    /// Those of the tenant with this draft.
    Draft(String),
    /// Those of a revision that is kept.
    Revision(u64),
    /// The present ones, with those of a bundle in the place of the kinds that it names.
    Bundle(Box<BundleDocument>),
    /// Those that this apply would make of the present ones.
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
        context.parse(json, Self::read)
    }

    fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        context: DocumentContext<'_>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let candidate = fields
            .required("candidate", |json, at, problems| candidate(json, at, problems, context));
        let from = fields.optional("from", instant);
        let to = fields.optional("to", instant);
        let filter = fields.optional("filter", filter);
        fields.close();
        let selection = DecisionSelection { from, to, ..filter.unwrap_or_default() };
        Some(Self { candidate: candidate?, selection })
    }
}

fn candidate(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    context: DocumentContext<'_>,
) -> Option<ReplayCandidate> {
    let mut fields = Fields::open(json, at, problems)?;
    let draft = fields.optional("draft", owned).map(ReplayCandidate::Draft);
    let revision = fields.optional("revision", read_revision).map(ReplayCandidate::Revision);
    let bundle = fields
        .optional("bundle", |json, at, problems| BundleDocument::read(json, at, problems, context));
    let bundle = bundle.map(|bundle| ReplayCandidate::Bundle(Box::new(bundle)));
    let apply = fields
        .optional("apply", |json, at, problems| ApplyRequest::read(json, at, problems, context));
    let apply = apply.map(|apply| ReplayCandidate::Apply(Box::new(apply)));
    fields.close();
    let is_one = json.as_object().is_some_and(|members| members.len() == 1);
    if !is_one {
        problems.expected(at, "one of `draft`, `revision`, `bundle` and `apply`");
        return None;
    }
    draft.or(revision).or(bundle).or(apply)
}

fn instant(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Timestamp> {
    request::instant(json, at, problems).map(Timestamp::from)
}

/// Reads the part of a selection that is not its time.
fn filter(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<DecisionSelection> {
    let mut fields = Fields::open(json, at, problems)?;
    let selection = DecisionSelection {
        from: None,
        to: None,
        subject: fields.optional("subject", owned),
        resource: fields.optional("resource", owned),
        action: fields.optional("action", owned),
        rule: fields.optional("rule", owned),
        request_id: fields.optional("request_id", owned),
        decision: fields.optional("decision", word("`allow` or `deny`")),
        via: fields.optional("via", word("`check`, `legacy`, `batch` or `authzen`")),
        undetermined: fields.optional("undetermined", boolean),
    };
    fields.close();
    Some(selection)
}

fn owned(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    string(json, at, problems).map(str::to_owned)
}

fn word<T: FromStr>(
    expected: &'static str,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<T> {
    move |json, at, problems| {
        let read = string(json, at, problems)?.parse().ok();
        if read.is_none() {
            problems.expected(at, expected);
        }
        read
    }
}
