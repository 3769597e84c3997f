//! Subjects, actions, resources and contexts of AuthZEN requests.

use portcullis_engine::fields::within;
use portcullis_engine::flat_attributes::FlatRange;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::plain_text::fill;
use portcullis_engine::rbac::{EFFECTS, Effect, MAX_DOMAIN};
use portcullis_engine::request::EXPECTED;

use super::properties::{Properties, PropertySource};

/// The kind of an entity in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Subject,
    Action,
    Resource,
}

impl Role {
    /// Returns the member that has the entity.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Action => "action",
            Self::Resource => "resource",
        }
    }

    /// Returns the member that has the id, or the name of an action.
    fn id(self) -> &'static str {
        match self {
            Self::Action => "name",
            Self::Subject | Self::Resource => "id",
        }
    }

    /// Returns the attributes that an entity gets beside its properties: the type, then the id.
    fn added(self) -> &'static [&'static str] {
        match self {
            Self::Subject => &["type"],
            Self::Action => &[],
            Self::Resource => &["type", "id"],
        }
    }
}

/// An entity of a request, in which the required members may still be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entity<'a> {
    kind: Option<&'a str>,
    id: Option<&'a str>,
    /// The attributes that policies read of it.
    pub(super) attributes: FlatRange,
    /// Whether a property of a subject replaces its type among the attributes.
    has_own_type: bool,
}

impl<'a> Entity<'a> {
    /// Returns an entity without type and properties, of which any id is meant.
    pub(super) fn any() -> Self {
        Self { id: Some(""), ..Self::default() }
    }

    /// Reads the entity that `source` has at `at`; without its id if `is_any`: any is meant. Ignores unknown members.
    pub(super) fn read(
        role: Role,
        is_any: bool,
        source: &mut impl PropertySource<'a>,
        at: &Place<'_>,
        properties: &mut Properties<'a>,
    ) -> Option<Self> {
        let (mut kind, mut id, mut attributes) = (None, None, None);
        source.object(at, &["type", "properties", role.id()], |source, at, name| match name {
            // A member that is `null` counts as absent.
            _ if source.is_null() => source.ignore(),
            "type" if role != Role::Action => fill(&mut kind, source.string(at)),
            "properties" => fill(&mut attributes, source.properties(at, properties)),
            name if !is_any && name == role.id() => fill(&mut id, source.string(at)),
            _ => source.ignore(),
        })?;
        let id = if is_any { Self::any().id } else { id };
        let flat = &mut properties.flat;
        let mut attributes = attributes.or_else(|| flat.nothing())?;
        // The subject's type is an attribute unless the subject has a property of that name.
        let has_own_type = role == Role::Subject && flat.has(attributes, "type");
        if role == Role::Resource {
            // No property stands for the resource itself.
            attributes = flat.remove(attributes, role.added())?;
        }
        let mut entity = Self { kind, id, attributes, has_own_type };
        // The type and the id have the last places, where a default may still come.
        for (name, text) in entity.added(role) {
            entity.attributes = flat.add_text(entity.attributes, name, text)?;
        }
        Some(entity)
    }

    /// Returns the attributes that the entity has beside its properties.
    fn added(&self, role: Role) -> impl Iterator<Item = (&'static str, &'a str)> + use<'a> {
        let names = if self.has_own_type { &[] } else { role.added() };
        // It ends with the names: an action has none of them, and a subject its type alone.
        names.iter().copied().zip([self.kind(), self.id()])
    }

    /// Returns the type; empty for an action.
    pub(super) fn kind(&self) -> &'a str {
        self.kind.unwrap_or_default()
    }

    /// Returns the id, or the name of an action.
    pub(super) fn id(&self) -> &'a str {
        self.id.unwrap_or_default()
    }

    /// Returns whether neither the type nor the id is there.
    fn is_empty(&self) -> bool {
        self.kind.is_none() && self.id.is_none()
    }

    /// Returns whether every required member is there.
    fn is_complete(&self, role: Role) -> bool {
        self.id.is_some() && (role == Role::Action || self.kind.is_some())
    }

    /// Takes the type and the id of `default` where the entity has none. Properties are never merged.
    fn take_names(&mut self, default: Self, role: Role, properties: &mut Properties<'a>) {
        self.kind = self.kind.or(default.kind);
        self.id = self.id.or(default.id);
        for (name, text) in self.added(role) {
            // Their places are there since the entity was read.
            properties.flat.set_text(self.attributes, name, text);
        }
    }

    /// Notes the members that are missing at `at`, the place of the entity.
    fn note_missing(&self, role: Role, at: &Place<'_>, problems: &mut Problems) {
        if role != Role::Action && self.kind.is_none() {
            problems.missing(at, "type");
        }
        if self.id.is_none() {
            problems.missing(at, role.id());
        }
    }
}

/// The context of a check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context<'a> {
    pub(super) domain: Option<&'a str>,
    pub(super) attributes: FlatRange,
    /// The number of the list of tuples that it assumes, among those of its request.
    pub(super) assumed: Option<u32>,
}

impl<'a> Context<'a> {
    fn read(
        source: &mut impl PropertySource<'a>,
        at: &Place<'_>,
        properties: &mut Properties<'a>,
    ) -> Option<Self> {
        let mut attributes = source.properties(at, properties)?;
        let assumed = source.assumed(at, &mut attributes, properties)?;
        let domain = properties.flat.text(attributes, "domain");
        // `None` means that no domain was sent, `Some(None)` that it is not a string.
        let is_sound =
            domain.is_none_or(|domain| domain.is_some_and(|text| within(text, MAX_DOMAIN)));
        if !is_sound {
            return source.fault(|problems| {
                let about = format!("a string of 1 to {MAX_DOMAIN} characters");
                problems.expected(&at.key("domain"), about)
            });
        }
        Some(Self { domain: domain.flatten(), attributes, assumed })
    }
}

/// Reads the decision of another system.
fn read_expected<'a>(source: &mut impl PropertySource<'a>, at: &Place<'_>) -> Option<Effect> {
    let effect = source.string(at)?.parse().ok();
    effect.or_else(|| source.fault(|problems| problems.expected(at, EFFECTS)))
}

/// The entities and the context that an object has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) subject: Option<Entity<'a>>,
    pub(super) action: Option<Entity<'a>>,
    pub(super) resource: Option<Entity<'a>>,
    pub(super) context: Option<Context<'a>>,
    /// The decision of another system.
    pub(super) expected: Option<Effect>,
}

impl<'a> Parts<'a> {
    /// The members that have the parts.
    pub(super) const MEMBERS: &'static [&'static str] =
        &["subject", "action", "resource", "context", EXPECTED];

    /// Reads the member `name` at `at`. Ignores every other one. `any` is the entity of which any is meant.
    pub(super) fn read_member(
        &mut self,
        name: &str,
        any: Option<Role>,
        source: &mut impl PropertySource<'a>,
        at: &Place<'_>,
        properties: &mut Properties<'a>,
    ) -> Option<()> {
        let (part, role) = match name {
            _ if source.is_null() => return source.ignore(),
            "subject" => (&mut self.subject, Role::Subject),
            "action" => (&mut self.action, Role::Action),
            "resource" => (&mut self.resource, Role::Resource),
            "context" => return fill(&mut self.context, Context::read(source, at, properties)),
            EXPECTED => return fill(&mut self.expected, read_expected(source, at)),
            _ => return source.ignore(),
        };
        fill(part, Entity::read(role, any == Some(role), source, at, properties))
    }

    /// Takes from `defaults` what is missing. Returns whether nothing is missing any more.
    pub(super) fn complete(&mut self, defaults: &Self, properties: &mut Properties<'a>) -> bool {
        self.context = self.context.or(defaults.context);
        self.expected = self.expected.or(defaults.expected);
        let mut is_complete = true;
        // Each part takes its defaults, also after one that lacks something.
        for (part, default, role) in [
            (&mut self.subject, defaults.subject, Role::Subject),
            (&mut self.action, defaults.action, Role::Action),
            (&mut self.resource, defaults.resource, Role::Resource),
        ] {
            match (&mut *part, default) {
                (Some(own), Some(default)) if !own.is_complete(role) => {
                    own.take_names(default, role, properties);
                }
                // A default without a type and an id makes no entity.
                (None, Some(default)) if !default.is_empty() => *part = Some(default),
                _ => {}
            }
            is_complete &= part.is_some_and(|part| part.is_complete(role));
        }
        is_complete
    }

    /// Notes what is missing at `at`, the place of the object.
    pub(super) fn note_missing(&self, at: &Place<'_>, problems: &mut Problems) {
        let parts = [self.subject, self.action, self.resource];
        for (part, role) in parts.iter().zip([Role::Subject, Role::Action, Role::Resource]) {
            match part {
                Some(part) => part.note_missing(role, &at.key(role.member()), problems),
                None => problems.missing(at, role.member()),
            }
        }
    }
}
