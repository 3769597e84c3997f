//! The bodies of AuthZEN searches (`docs/semantics.md`, section 13.7).

use std::borrow::Cow;

use portcullis_engine::fields::{Fields, string, within};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT};
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_engine::resource::{encoded_resource, split_resource};
use portcullis_engine::source::{Source, Tree};
use portcullis_engine::{Json, entities};
use portcullis_http::error::ApiError;
use portcullis_model::search::{MAX_LIMIT, SearchPage};

use super::entity::{Context, Entity, Parts, Role};
use super::properties::Properties;

/// The part of a request that a search leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Subjects,
    Resources,
    Actions,
}

impl Wanted {
    /// Reads the parts of a request, all of which must be complete: of what is searched any id is meant, and of an action in a
    /// search for actions everything.
    fn read_parts<'j>(
        self,
        json: &'j Json<'j>,
        properties: &mut Properties<'j>,
        problems: &mut Problems,
    ) -> Option<Parts<'j>> {
        let any = match self {
            Self::Subjects => Some(Role::Subject),
            Self::Resources => Some(Role::Resource),
            Self::Actions => None,
        };
        let (at, mut parts) = (Place::root(), Parts::default());
        if self == Self::Actions {
            parts.action = Some(Entity::any());
        }
        Tree::new(json, problems).object(&at, Parts::MEMBERS, |tree, at, name| match name {
            "action" if self == Self::Actions => tree.ignore(),
            _ => parts.read_member(name, any, tree, at, properties),
        })?;
        // A member with a fault is not among the parts, and is not missing either.
        if problems.is_empty() {
            parts.note_missing(&at, problems);
        }
        Some(parts)
    }
}

/// The body of a search.
#[derive(Debug)]
pub(super) struct SearchBody<'j> {
    pub(super) subject: Entity<'j>,
    pub(super) resource: Entity<'j>,
    /// `None` in a search for actions.
    action: Option<Entity<'j>>,
    context: Context<'j>,
    properties: Properties<'j>,
    /// The subject as rules name it; empty in a search for subjects.
    pub(super) principal: Cow<'j, str>,
    /// The resource of the checks; the encoded type in a search for actions.
    pub(super) resource_name: String,
    pub(super) page: SearchPage<'j>,
}

impl<'j> SearchBody<'j> {
    /// Reads the body of a search. Ignores unknown members, and the id of what is searched.
    ///
    /// # Errors
    /// Every missing or ill-typed member, by JSON pointer.
    pub(super) fn parse(json: &'j Json<'j>, wanted: Wanted) -> Result<Self, ApiError> {
        let mut problems = Problems::default();
        let body = Self::read(json, wanted, &mut problems);
        Ok(problems.finish(body)?)
    }

    fn read(json: &'j Json<'j>, wanted: Wanted, problems: &mut Problems) -> Option<Self> {
        let (at, mut properties) = (Place::root(), Properties::default());
        let parts = wanted.read_parts(json, &mut properties, problems)?;
        let page = Fields::open(json, &at, problems)?.optional("page", page);
        let Parts { subject, action, resource, context, expected: _ } = parts;
        let body = Self {
            context: context.unwrap_or_default(),
            properties,
            page: page.unwrap_or(SearchPage { limit: MAX_LIMIT, cursor: None }),
            ..Self::new(subject?, action.filter(|_| wanted != Wanted::Actions), resource?)
        };
        body.is_sound(wanted, &at, problems).then_some(body)
    }

    fn new(subject: Entity<'j>, action: Option<Entity<'j>>, resource: Entity<'j>) -> Self {
        let principal = match subject.id() {
            // In a search for subjects there is no id, and so no principal.
            "" => Cow::Borrowed(""),
            id => entities::principal(subject.kind(), id),
        };
        let name = action.map_or("", |action| action.id());
        let mut resource_name = encoded_resource(resource.kind(), name);
        if action.is_none() {
            // A type alone has no verb behind the colon.
            resource_name.pop();
        }
        let page = SearchPage { limit: MAX_LIMIT, cursor: None };
        let (context, properties) = (Context::default(), Properties::default());
        Self { subject, resource, action, context, properties, principal, resource_name, page }
    }

    /// Notes what no check can have.
    fn is_sound(&self, wanted: Wanted, at: &Place<'_>, problems: &mut Problems) -> bool {
        let mut sound = true;
        let mut require = |holds: bool, role: Role, expected: &str| {
            if !holds {
                problems.expected(&at.key(role.member()), expected);
                sound = false;
            }
        };
        let has_subject = wanted == Wanted::Subjects || within(&self.principal, MAX_SUBJECT);
        let subject =
            "a type, and an id that is not empty; both have at most 256 characters together";
        require(has_subject && !self.subject.kind().is_empty(), Role::Subject, subject);
        if let Some(action) = &self.action {
            require(within(action.id(), MAX_ACTION), Role::Action, "a name of 1 to 128 characters");
            let resource = "a type; the type and the name of the action have at most 255 characters together, \
                            percent-encoded";
            require(split_resource(&self.resource_name).is_some(), Role::Resource, resource);
        }
        let has_id = wanted == Wanted::Resources || !self.resource.id().is_empty();
        let resource = "a type and an id that are not empty";
        require(has_id && !self.resource.kind().is_empty(), Role::Resource, resource);
        sound
    }

    /// Returns the name of the action; empty in a search for actions.
    pub(super) fn action(&self) -> &str {
        self.action.map_or("", |action| action.id())
    }

    pub(super) fn domain(&self) -> Option<&'j str> {
        self.context.domain
    }

    /// Returns the known attributes.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        let parts = [self.subject, self.resource, self.action.unwrap_or_default()];
        let [user, resource, action] =
            parts.map(|part| AttributeMap::from_flat(&self.properties.flat, part.attributes));
        let context = AttributeMap::from_flat(&self.properties.flat, self.context.attributes);
        Attributes { user, resource, action, context }
    }

    /// Returns the types of the subject and of the resource as their only attributes. No property replaces them.
    pub(super) fn types(&self) -> [[Member<'j>; 1]; 2] {
        let kinds = [self.subject.kind(), self.resource.kind()];
        kinds.map(|kind| [("type".into(), Json::String(kind.into()))])
    }

    /// Returns the known attributes, with these alone of the subject and of the resource.
    pub(super) fn attributes_with<'a>(
        &'a self,
        [user, resource]: &'a [[Member<'j>; 1]; 2],
    ) -> Attributes<'a> {
        let [user, resource] = [user, resource].map(|members| AttributeMap::from_members(members));
        Attributes { user, resource, ..self.attributes() }
    }
}

/// Reads the page that a request wants. An empty token asks for the first page.
fn page<'j>(json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<SearchPage<'j>> {
    let mut fields = Fields::open(json, at, problems)?;
    let token = fields.optional("token", string);
    let limit = fields.optional("limit", limit);
    let cursor = token.filter(|token| !token.is_empty());
    Some(SearchPage { limit: limit.unwrap_or(MAX_LIMIT), cursor })
}

/// Reads the length of a page, which may be 0. A longer one than the service has is the longest.
fn limit(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<usize> {
    let limit = match json {
        Json::Number(number) => number.as_i32().and_then(|limit| usize::try_from(limit).ok()),
        _ => None,
    };
    if limit.is_none() {
        problems.expected(at, "a non-negative integer");
    }
    limit.map(|limit| limit.min(MAX_LIMIT))
}
