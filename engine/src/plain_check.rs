//! Checks that are read without a tree.

use crate::action::Action;
use crate::attributes::{AttributeMap, Attributes};
use crate::fields::within;
use crate::flat_attributes::{FlatAttributes, FlatRange};
use crate::plain_text::{PlainText, fill};
use crate::rbac::{Effect, MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use crate::request::{CheckBody, EXPECTED};
use crate::resource::split_resource;

/// The members of a check, whose attributes are among [`FlatAttributes`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainCheck<'a> {
    subject: Option<&'a str>,
    resource: Option<&'a str>,
    action: Option<&'a str>,
    domain: Option<&'a str>,
    /// The places of the attributes of the user, the resource, the action and the context.
    attributes: Option<[FlatRange; 4]>,
    expected: Option<Effect>,
}

impl<'a> PlainCheck<'a> {
    /// Reads the member `name`; `None` if a check has no such member, has it already, or its value is faulty.
    #[inline]
    pub(crate) fn read_member(
        &mut self,
        name: &str,
        text: &mut PlainText<'a>,
        flat: &mut FlatAttributes<'a>,
    ) -> Option<()> {
        match name {
            "subject" => {
                fill(&mut self.subject, text.string().filter(|text| within(text, MAX_SUBJECT)))
            }
            "resource" => {
                let resource = text.string()?;
                split_resource(resource)?;
                fill(&mut self.resource, Some(resource))
            }
            "action" => {
                fill(&mut self.action, text.string().filter(|text| within(text, MAX_ACTION)))
            }
            "domain" => {
                fill(&mut self.domain, text.string().filter(|text| within(text, MAX_DOMAIN)))
            }
            "attributes" => fill(&mut self.attributes, attributes(text, flat)),
            EXPECTED => fill(&mut self.expected, text.string()?.parse().ok()),
            _ => None,
        }
    }

    /// Returns the check with the members of `default` that it lacks, each whole.
    pub(crate) fn or(&self, default: &Self) -> Self {
        Self {
            subject: self.subject.or(default.subject),
            resource: self.resource.or(default.resource),
            action: self.action.or(default.action),
            domain: self.domain.or(default.domain),
            attributes: self.attributes.or(default.attributes),
            expected: self.expected.or(default.expected),
        }
    }

    /// Returns whether no required member is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.subject.is_some() && self.resource.is_some()
    }

    /// Returns the resource and the domain.
    pub(crate) fn scope(&self) -> Option<(&'a str, Option<&'a str>)> {
        Some((self.resource?, self.domain))
    }

    /// Returns the body of the check; `None` if a required member is missing.
    #[inline]
    pub(crate) fn body<'b>(&self, flat: &'b FlatAttributes<'a>) -> Option<CheckBody<'b>>
    where
        'a: 'b,
    {
        let [user, resource, action, context] =
            self.attributes.unwrap_or_default().map(|range| AttributeMap::from_flat(flat, range));
        Some(CheckBody {
            subject: self.subject?,
            subject_type: None,
            resource: self.resource?,
            action: Action::of(self.action, self.resource?),
            domain: self.domain,
            attributes: Attributes { user, resource, action, context },
            expected: self.expected,
        })
    }
}

/// Reads `attributes`: the places of the attributes of the user, the resource, the action and the context.
fn attributes<'a>(
    text: &mut PlainText<'a>,
    flat: &mut FlatAttributes<'a>,
) -> Option<[FlatRange; 4]> {
    let [mut user, mut resource, mut action, mut context] = [None; 4];
    text.object(|text, name| {
        let place = match name {
            "user" => &mut user,
            "resource" => &mut resource,
            "action" => &mut action,
            "context" => &mut context,
            _ => return None,
        };
        fill(place, flat.read(text))
    })?;
    Some([user, resource, action, context].map(Option::unwrap_or_default))
}
