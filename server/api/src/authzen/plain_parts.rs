//! The parts of AuthZEN requests that are read without a tree.

use portcullis_engine::fields::within;
use portcullis_engine::flat_attributes::{FlatAttributes, FlatRange};
use portcullis_engine::plain_text::{PlainText, fill};
use portcullis_engine::rbac::MAX_DOMAIN;

use super::entity::Role;

/// An entity. The required members may still be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainEntity<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) attributes: FlatRange,
}

/// The context of a check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainContext<'a> {
    pub(super) domain: Option<&'a str>,
    pub(super) attributes: FlatRange,
}

/// The entities and the context that an object has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainParts<'a> {
    pub(super) subject: Option<PlainEntity<'a>>,
    pub(super) action: Option<PlainEntity<'a>>,
    pub(super) resource: Option<PlainEntity<'a>>,
    pub(super) context: Option<PlainContext<'a>>,
}

impl<'a> PlainParts<'a> {
    /// Reads the member `name`; `None` if it is another member, or not plain.
    pub(super) fn read_member(
        &mut self,
        name: &str,
        text: &mut PlainText<'a>,
        flat: &mut FlatAttributes<'a>,
    ) -> Option<()> {
        match name {
            "subject" => fill(&mut self.subject, PlainEntity::read(Role::Subject, text, flat)),
            "action" => fill(&mut self.action, PlainEntity::read(Role::Action, text, flat)),
            "resource" => fill(&mut self.resource, PlainEntity::read(Role::Resource, text, flat)),
            "context" => fill(&mut self.context, PlainContext::read(text, flat)),
            _ => None,
        }
    }

    /// Takes from `defaults` what is missing; `None` if they lack it too.
    pub(super) fn complete(
        &mut self,
        defaults: &Self,
        flat: &mut FlatAttributes<'a>,
    ) -> Option<()> {
        let mut complete = |own: &mut Option<PlainEntity<'a>>, default, role| match own {
            Some(own) => own.complete(default, role, flat),
            None => {
                *own = default;
                own.is_some_and(|own| own.is_complete(role)).then_some(())
            }
        };
        complete(&mut self.subject, defaults.subject, Role::Subject)?;
        complete(&mut self.action, defaults.action, Role::Action)?;
        complete(&mut self.resource, defaults.resource, Role::Resource)?;
        self.context = self.context.or(defaults.context);
        Some(())
    }
}

impl<'a> PlainEntity<'a> {
    fn read(role: Role, text: &mut PlainText<'a>, flat: &mut FlatAttributes<'a>) -> Option<Self> {
        let (mut kind, mut id, mut properties) = (None, None, None);
        text.object(|text, name| match name {
            "type" if role != Role::Action => fill(&mut kind, text.string()),
            "properties" => fill(&mut properties, flat.read(text)),
            name if name == role.id() => fill(&mut id, text.string()),
            _ => None,
        })?;
        let mut attributes = properties.or_else(|| flat.nothing())?;
        // The type and the id have the last places, where a default may still come.
        for (name, value) in role.added().iter().zip([kind, id]) {
            if flat.has(attributes, name) {
                return None;
            }
            attributes = flat.add_text(attributes, name, value.unwrap_or_default())?;
        }
        Some(Self { kind, id, attributes })
    }

    fn is_complete(&self, role: Role) -> bool {
        self.id.is_some() && (role == Role::Action || self.kind.is_some())
    }

    /// Takes the type and the id of `default` where the entity has none; `None` if both have none.
    fn complete(
        &mut self,
        default: Option<Self>,
        role: Role,
        flat: &mut FlatAttributes<'a>,
    ) -> Option<()> {
        if self.is_complete(role) {
            return Some(());
        }
        let default = default?;
        self.kind = self.kind.or(default.kind);
        self.id = self.id.or(default.id);
        for (name, value) in role.added().iter().zip([self.kind, self.id]) {
            flat.set_text(self.attributes, name, value.unwrap_or_default());
        }
        self.is_complete(role).then_some(())
    }
}

impl<'a> PlainContext<'a> {
    fn read(text: &mut PlainText<'a>, flat: &mut FlatAttributes<'a>) -> Option<Self> {
        let attributes = flat.read(text)?;
        let domain = match flat.text(attributes, "domain") {
            Some(domain) => Some(domain.filter(|domain| within(domain, MAX_DOMAIN))?),
            None => None,
        };
        Some(Self { domain, attributes })
    }
}
