//! The bodies of AuthZEN requests (`docs/semantics.md`, section 11.6).

use axum::extract::{FromRequest, Request};
use portcullis_engine::batch::MAX_ITEMS;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::names::read_name;
use portcullis_engine::plain_text::{PlainText, fill};
use portcullis_engine::source::{Source, Tree};
use portcullis_engine::{CheckBody, Invalid, Json, json};
use portcullis_http::body::JsonBody;
use portcullis_http::error::ApiError;
use portcullis_http::handler_parameters::HandlerParameter;
use portcullis_model::relation::AssumedTuples;

use super::entity::Parts;
use super::names::MadeNames;
use super::options::Options;
use super::properties::{Properties, PropertySource};
use super::question::Question;
use super::topic::Topic;

/// Bytes of text for which an evaluation has room from the start.
const SHORT_ITEM: usize = 48;

/// A JSON body of a standard route: another type is a 400 there.
#[derive(Debug)]
pub(crate) struct StandardBody(pub(crate) JsonBody);

impl HandlerParameter for StandardBody {}

impl<S: Send + Sync> FromRequest<S> for StandardBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match JsonBody::from_request(request, state).await {
            Ok(body) => Ok(Self(body)),
            Err(error @ (ApiError::UnsupportedMediaType(_) | ApiError::EncodedBody(_))) => {
                Err(ApiError::bad_request(error.message()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The body of an evaluation, or of evaluations.
#[derive(Debug)]
pub(super) struct RequestBody<'a> {
    pub(super) options: Options,
    /// Whether the body has evaluations, each of which has its own faults.
    pub(super) is_many: bool,
    /// At least one.
    questions: Vec<Question<'a>>,
    properties: Properties<'a>,
    names: MadeNames<'a>,
    /// The number of the list of tuples of the body, which many questions may assume.
    shared: Option<usize>,
}

impl<'a> RequestBody<'a> {
    /// Reads the body of an evaluation, or of evaluations if it `may_be_many`. Unusual JSON becomes a `tree`.
    ///
    /// # Errors
    /// The fault of the JSON text, or every fault that is not of a single one of many evaluations, by JSON pointer.
    pub(super) fn parse<'t: 'a>(
        text: &'t [u8],
        tree: &'a mut Option<Json<'t>>,
        may_be_many: bool,
    ) -> Result<Self, ApiError> {
        if let Some(body) = SentBody::read_plain(text, may_be_many) {
            return Ok(body.complete()?);
        }
        let tree = tree.insert(json::parse(text)?);
        Ok(SentBody::read_tree(tree, may_be_many)?.complete()?)
    }

    /// Takes the faults of each question. One with faults is not a check.
    pub(super) fn take_faults(&mut self) -> Vec<Option<Invalid>> {
        self.questions.iter_mut().map(Question::take_faults).collect()
    }

    /// Returns what each question is about.
    pub(super) fn topics(&self) -> impl ExactSizeIterator<Item = Topic<'a>> {
        self.questions.iter().map(Question::topic)
    }

    /// Returns the check of a question without faults.
    pub(super) fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        let question = self.questions.get(index)?;
        Some(question.check(&self.properties.flat, &self.names))
    }

    /// Returns the resource and the domain of the check of a question without faults.
    pub(super) fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        Some(self.questions.get(index)?.scope(&self.names))
    }

    /// Returns the lists of tuples that questions assume.
    pub(super) fn assumed(&self) -> &[AssumedTuples] {
        &self.properties.assumed
    }

    /// Returns whether many questions may assume the list of this number.
    pub(super) fn is_shared(&self, number: usize) -> bool {
        self.shared == Some(number)
    }

    /// Returns the number of the list that a question assumes.
    pub(super) fn assumed_by(&self, index: usize) -> Option<usize> {
        self.questions.get(index)?.topic().assumed
    }

    /// Returns the check of the only question, and what it is about.
    ///
    /// # Errors
    /// There is no question.
    pub(super) fn only(&self) -> Result<(CheckBody<'_>, Topic<'a>), ApiError> {
        let only = self.check(0).zip(self.topics().next());
        only.ok_or_else(|| ApiError::bad_request("expected an evaluation"))
    }
}

/// The members of a body, before the evaluations take what they leave out.
#[derive(Debug)]
struct SentBody<'a> {
    options: Options,
    defaults: Parts<'a>,
    evaluations: Vec<Question<'a>>,
    properties: Properties<'a>,
}

impl<'a> SentBody<'a> {
    fn new() -> Self {
        Self {
            options: Options::default(),
            defaults: Parts::default(),
            evaluations: Vec::new(),
            properties: Properties::of_decisions(),
        }
    }

    /// Reads plain text; `None` if it has a rare form or an ill-typed member.
    fn read_plain(text: &'a [u8], may_be_many: bool) -> Option<Self> {
        let mut body = Self::new();
        body.properties.flat.reserve_for(text.len());
        body.evaluations = Vec::with_capacity(match may_be_many {
            true => (text.len() / SHORT_ITEM).min(MAX_ITEMS),
            false => 0,
        });
        let mut text = PlainText::new(text)?;
        body.read(&mut text, may_be_many)?;
        // Text behind the body is a fault, which the strict tree names.
        text.end()?;
        Some(body)
    }

    fn read_tree(json: &'a Json<'a>, may_be_many: bool) -> Result<Self, Invalid> {
        let (mut body, mut problems) = (Self::new(), Problems::default());
        let read = body.read(&mut Tree::new(json, &mut problems), may_be_many);
        problems.finish(read.map(|()| body))
    }

    /// Reads the body. Ignores unknown members.
    fn read(&mut self, source: &mut impl PropertySource<'a>, may_be_many: bool) -> Option<()> {
        let Self { defaults, evaluations, properties, .. } = self;
        let (mut options, mut items) = (None, None);
        source.object(&Place::root(), Parts::MEMBERS, |source, at, name| match name {
            _ if source.is_null() => source.ignore(),
            "options" => fill(&mut options, read_options(source, at, may_be_many)),
            "evaluations" if may_be_many => {
                fill(&mut items, read_evaluations(source, at, evaluations, properties))
            }
            _ => defaults.read_member(name, None, source, at, properties),
        })?;
        self.options = options.unwrap_or_default();
        Some(())
    }

    /// Completes the questions.
    ///
    /// # Errors
    /// The faults of the only question.
    fn complete(self) -> Result<RequestBody<'a>, Invalid> {
        let Self { options, defaults, evaluations: mut questions, mut properties } = self;
        AssumedTuples::must_be_few(&properties.assumed)?;
        let mut names = MadeNames::default();
        let shared = defaults.context.and_then(|context| usize::try_from(context.assumed?).ok());
        // AuthZEN: with an empty list, as without one, the body is a single evaluation.
        let is_many = !questions.is_empty();
        for (index, question) in questions.iter_mut().enumerate() {
            question.complete(&defaults, Some(index), &mut properties, &mut names);
        }
        if !is_many {
            let mut question = Question::new(defaults, Problems::default());
            question.complete(&Parts::default(), None, &mut properties, &mut names);
            question.take_faults().map_or(Ok(()), Err)?;
            questions = vec![question];
        }
        Ok(RequestBody { options, is_many, questions, properties, names, shared })
    }
}

fn read_evaluations<'a>(
    source: &mut impl PropertySource<'a>,
    at: &Place<'_>,
    evaluations: &mut Vec<Question<'a>>,
    properties: &mut Properties<'a>,
) -> Option<()> {
    source.array(at, "an array", MAX_ITEMS, |source, at| {
        let mut parts = Parts::default();
        let (read, faults) = source.apart(|source| {
            source.object(at, Parts::MEMBERS, |source, at, name| {
                parts.read_member(name, None, source, at, properties)
            })
        });
        evaluations.push(Question::new(parts, faults));
        read
    })
}

/// Reads the options. To a single evaluation the standard gives none: what is not understood is ignored there.
fn read_options<'a, S: Source<'a>>(
    source: &mut S,
    at: &Place<'_>,
    may_be_many: bool,
) -> Option<Options> {
    let (mut semantic, mut reasons) = (None, None);
    let mut read = |source: &mut S| {
        source.object(at, &[], |source, at, name| match name {
            _ if source.is_null() => source.ignore(),
            "evaluations_semantic" => fill(&mut semantic, read_name(source, at)),
            "reasons" => fill(&mut reasons, source.boolean(at)),
            _ => source.ignore(),
        })
    };
    match may_be_many {
        true => read(source)?,
        false => source.apart(read).0?,
    }
    Some(Options { semantic: semantic.unwrap_or_default(), reasons: reasons.unwrap_or_default() })
}

#[cfg(test)]
mod tests;
