//! Bodies of AuthZEN requests that are read without a tree. `body` reads every other body, and words the faults.

use portcullis_engine::CheckBody;
use portcullis_engine::batch::MAX_ITEMS;
use portcullis_engine::fields::within;
use portcullis_engine::flat_attributes::{FlatAttributes, FlatRange};
use portcullis_engine::plain_text::{PlainText, fill};
use portcullis_engine::rbac::MAX_ACTION;
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_operations::batch_items::BatchItems;

use super::made_names::{MadeName, MadeNames};
use super::options::Options;
use super::plain_parts::{PlainEntity, PlainParts};
use super::topic::Topic;

/// Bytes of text for which an evaluation has room from the start.
const SHORT_ITEM: usize = 48;

/// The body of an evaluation, or of evaluations, whose text is plain and has no fault.
#[derive(Debug)]
pub(super) struct PlainBody<'a> {
    pub(super) options: Options,
    /// Whether the body has evaluations.
    pub(super) is_many: bool,
    /// The attributes of all questions.
    flat: FlatAttributes<'a>,
    names: MadeNames<'a>,
    questions: Vec<PlainQuestion<'a>>,
}

/// A question with all its parts.
#[derive(Debug, Default)]
struct PlainQuestion<'a> {
    parts: PlainParts<'a>,
    principal: MadeName<'a>,
    resource: MadeName<'a>,
}

impl<'a> PlainBody<'a> {
    /// Reads the body of an evaluation; `None` if it is not plain.
    pub(super) fn evaluation(text: &'a [u8]) -> Option<Self> {
        Self::read(text, false)
    }

    /// Reads the body of evaluations; `None` if it is not plain.
    pub(super) fn evaluations(text: &'a [u8]) -> Option<Self> {
        Self::read(text, true)
    }

    fn read(text: &'a [u8], may_be_many: bool) -> Option<Self> {
        let mut flat = FlatAttributes::default();
        flat.reserve_for(text.len());
        let (mut text, mut defaults) = (PlainText::new(text)?, PlainParts::default());
        let (mut options, mut items) = (None, None);
        text.object(|text, name| match name {
            "options" => fill(&mut options, read_options(text)),
            "evaluations" if may_be_many => fill(&mut items, read_items(text, &mut flat)),
            _ => defaults.read_member(name, text, &mut flat),
        })?;
        text.end()?;
        let (mut names, mut questions) = (MadeNames::default(), items.unwrap_or_default());
        let is_many = !questions.is_empty();
        if !is_many {
            questions.push(PlainQuestion::default());
        }
        for question in &mut questions {
            question.complete(&defaults, &mut flat, &mut names)?;
        }
        Some(Self { options: options.unwrap_or_default(), is_many, flat, names, questions })
    }

    /// Returns the check of the first question, and what it is about.
    pub(super) fn first(&self) -> Option<(CheckBody<'_>, Topic<'a>)> {
        Some((self.check_of(self.questions.first()?), self.topics().next()?))
    }

    fn check_of(&self, question: &PlainQuestion<'a>) -> CheckBody<'_> {
        let PlainParts { subject, action, resource, context } = question.parts;
        let (action, context) = (action.unwrap_or_default(), context.unwrap_or_default());
        let map = |entity: Option<PlainEntity<'a>>| self.at(entity.unwrap_or_default().attributes);
        CheckBody {
            subject: self.names.text(question.principal),
            resource: self.names.text(question.resource),
            action: action.id.unwrap_or_default(),
            domain: context.domain,
            attributes: Attributes {
                user: map(subject),
                resource: map(resource),
                action: self.at(action.attributes),
                context: self.at(context.attributes),
            },
        }
    }

    fn at(&self, range: FlatRange) -> AttributeMap<'_> {
        AttributeMap::of_flat(&self.flat, range)
    }

    /// Returns what each question is about.
    pub(super) fn topics(&self) -> impl ExactSizeIterator<Item = Topic<'a>> {
        self.questions.iter().map(|question| {
            let PlainParts { action, resource, context, .. } = question.parts;
            Topic {
                action: action.and_then(|action| action.id).unwrap_or_default(),
                kind: resource.and_then(|resource| resource.kind).unwrap_or_default(),
                domain: context.and_then(|context| context.domain),
            }
        })
    }
}

impl BatchItems for PlainBody<'_> {
    fn count(&self) -> usize {
        self.questions.len()
    }

    fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        self.questions.get(index).map(|question| self.check_of(question))
    }

    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        let question = self.questions.get(index)?;
        let domain = question.parts.context.and_then(|context| context.domain);
        Some((self.names.text(question.resource), domain))
    }
}

impl<'a> PlainQuestion<'a> {
    /// Takes from `defaults` what is missing, and makes the names of the check; `None` if no check can have these parts.
    fn complete(
        &mut self,
        defaults: &PlainParts<'a>,
        flat: &mut FlatAttributes<'a>,
        names: &mut MadeNames<'a>,
    ) -> Option<()> {
        self.parts.complete(defaults, flat)?;
        let (subject, resource) = (self.parts.subject?, self.parts.resource?);
        let action = self.parts.action?.id.filter(|name| within(name, MAX_ACTION))?;
        resource.id.filter(|id| !id.is_empty())?;
        self.principal = names.principal(subject.kind?, subject.id?)?;
        self.resource = names.resource(resource.kind?, action)?;
        Some(())
    }
}

fn read_items<'a>(
    text: &mut PlainText<'a>,
    flat: &mut FlatAttributes<'a>,
) -> Option<Vec<PlainQuestion<'a>>> {
    let mut items = Vec::with_capacity((text.remaining() / SHORT_ITEM + 1).min(MAX_ITEMS));
    text.array(|text| {
        let mut item = PlainQuestion::default();
        text.object(|text, name| item.parts.read_member(name, text, flat))?;
        items.push(item);
        (items.len() <= MAX_ITEMS).then_some(())
    })?;
    Some(items)
}

fn read_options(text: &mut PlainText<'_>) -> Option<Options> {
    let (mut semantic, mut reasons) = (None, None);
    text.object(|text, name| match name {
        "evaluations_semantic" => fill(&mut semantic, text.string()?.parse().ok()),
        "reasons" => fill(&mut reasons, text.boolean()),
        _ => None,
    })?;
    Some(Options { semantic: semantic.unwrap_or_default(), reasons: reasons.unwrap_or_default() })
}
