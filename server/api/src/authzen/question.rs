//! Questions of AuthZEN requests, and the checks that they become (`docs/semantics.md`, section 11.6).

use portcullis_engine::fields::within;
use portcullis_engine::flat_attributes::FlatAttributes;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT};
use portcullis_engine::request::{Action, AttributeMap, Attributes};
use portcullis_engine::{CheckBody, Invalid};

use super::entity::Parts;
use super::names::{MadeName, MadeNames};
use super::properties::Properties;
use super::topic::Topic;

/// One question of a request, which a check answers.
#[derive(Debug, Default)]
pub(super) struct Question<'a> {
    parts: Parts<'a>,
    principal: MadeName<'a>,
    resource: MadeName<'a>,
    /// In a box, because most questions have none.
    faults: Option<Box<Problems>>,
}

impl<'a> Question<'a> {
    /// Returns the question with these parts, in which `faults` were noted.
    pub(super) fn new(parts: Parts<'a>, faults: Problems) -> Self {
        let faults = (!faults.is_empty()).then(|| Box::new(faults));
        Self { parts, faults, ..Self::default() }
    }

    /// Takes from `defaults` what is missing, and makes the names of the check. Notes what a check cannot have. `index` is the
    /// number of the evaluation, if the question is one of many.
    pub(super) fn complete(
        &mut self,
        defaults: &Parts<'a>,
        index: Option<usize>,
        properties: &mut Properties<'a>,
        names: &mut MadeNames<'a>,
    ) {
        let is_complete = self.parts.complete(defaults, properties);
        // Most questions end here: places and words are made for faults alone.
        if is_complete && self.make_names(names).is_some() {
            return;
        }
        let mut faults = self.faults.take().unwrap_or_default();
        let (root, list) = (Place::root(), "evaluations");
        let list = root.key(list);
        let item = index.map(|index| list.index(index));
        let at = item.as_ref().unwrap_or(&root);
        match is_complete {
            true => self.note_names(at, names, &mut faults),
            false => self.parts.note_missing(at, &mut faults),
        }
        self.faults = Some(faults);
    }

    /// Makes the names of the check; `None` if no check can have them.
    fn make_names(&mut self, names: &mut MadeNames<'a>) -> Option<()> {
        let Parts { subject, action, resource, .. } = self.parts;
        let (subject, resource) = (subject?, resource?);
        let action = Some(action?.id()).filter(|name| within(name, MAX_ACTION))?;
        self.principal = names.principal(subject.kind(), subject.id())?;
        self.resource = names.resource(resource.kind(), action)?;
        (!resource.id().is_empty()).then_some(())
    }

    /// Notes the parts that no check can have.
    fn note_names(&self, at: &Place<'_>, names: &mut MadeNames<'a>, faults: &mut Problems) {
        let Parts { subject, action, resource, .. } = self.parts;
        let [subject, action, resource] =
            [subject, action, resource].map(Option::unwrap_or_default);
        if names.principal(subject.kind(), subject.id()).is_none() {
            let about = format!(
                "a type and an id that are not empty and have at most {MAX_SUBJECT} characters together"
            );
            faults.expected(&at.key("subject"), about);
        }
        if !within(action.id(), MAX_ACTION) {
            let about = format!("a name of 1 to {MAX_ACTION} characters");
            faults.expected(&at.key("action"), about);
        }
        if resource.id().is_empty() || names.resource(resource.kind(), action.id()).is_none() {
            let about = "an id and a type that are not empty; the type and the name of the action have at most 255 \
                         characters together, percent-encoded";
            faults.expected(&at.key("resource"), about);
        }
    }

    /// Takes the faults of the question, which is not a check if it has any.
    pub(super) fn take_faults(&mut self) -> Option<Invalid> {
        self.faults.take().map(|faults| Invalid::from(*faults))
    }

    /// Returns the check.
    pub(super) fn check<'q>(
        &self,
        flat: &'q FlatAttributes<'a>,
        names: &'q MadeNames<'a>,
    ) -> CheckBody<'q>
    where
        'a: 'q,
    {
        let Parts { subject, action, resource, context, expected } = self.parts;
        let [subject, action, resource] =
            [subject, action, resource].map(Option::unwrap_or_default);
        let context = context.unwrap_or_default();
        let parts = [subject.attributes, resource.attributes, action.attributes];
        let [of_subject, of_resource, of_action] =
            parts.map(|range| AttributeMap::from_flat(flat, range));
        CheckBody {
            subject: names.text(self.principal),
            subject_type: Some(subject.kind()),
            resource: names.text(self.resource),
            action: Action::Plain(action.id()),
            domain: context.domain,
            attributes: Attributes {
                user: of_subject,
                resource: of_resource,
                action: of_action,
                context: AttributeMap::from_flat(flat, context.attributes),
            },
            expected,
        }
    }

    /// Returns the resource and the domain of the check.
    pub(super) fn scope<'q>(&self, names: &'q MadeNames<'a>) -> (&'q str, Option<&'q str>)
    where
        'a: 'q,
    {
        (names.text(self.resource), self.parts.context.and_then(|context| context.domain))
    }

    /// Returns what the question is about.
    pub(super) fn topic(&self) -> Topic<'a> {
        let Parts { action, resource, context, .. } = self.parts;
        Topic {
            action: action.unwrap_or_default().id(),
            kind: resource.unwrap_or_default().kind(),
            domain: context.and_then(|context| context.domain),
            assumed: context.and_then(|context| usize::try_from(context.assumed?).ok()),
        }
    }
}
