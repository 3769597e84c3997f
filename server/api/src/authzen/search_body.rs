//! The bodies of AuthZEN searches (`docs/semantics.md`, section 13.7).

use std::borrow::Cow;
use std::sync::Arc;

use portcullis_engine::Json;
use portcullis_engine::fields::within;
use portcullis_engine::fields::{Fields, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT};
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_engine::resource::split_resource;
use portcullis_model::search::{MAX_LIMIT, SearchPage};

use super::body::context;
use super::entity::{Entity, PartialEntity, Role};
use super::flatten::NameBudget;
use super::question::{Context, principal, resource_name};
use crate::error::ApiError;

/// The part of a request that a search leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Subjects,
    Resources,
    Actions,
}

/// The body of a search.
#[derive(Debug)]
pub(super) struct SearchBody<'j> {
    pub(super) subject: Arc<Entity<'j>>,
    pub(super) resource: Arc<Entity<'j>>,
    /// `None` in a search for actions.
    action: Option<Arc<Entity<'j>>>,
    context: Arc<Context<'j>>,
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
        let (at, mut names) = (Place::root(), NameBudget::default());
        let mut fields = Fields::open(json, &at, problems)?;
        let mut part = |role: Role, is_open: bool| {
            fields.required(role.member(), |json, at, problems| {
                let part = match is_open {
                    true => PartialEntity::read_any(role, json, at, problems, &mut names),
                    false => PartialEntity::read(role, json, at, problems, &mut names),
                };
                part?.complete(role, at, problems)
            })
        };
        let subject = part(Role::Subject, wanted == Wanted::Subjects);
        let action = (wanted != Wanted::Actions).then(|| part(Role::Action, false));
        let resource = part(Role::Resource, wanted == Wanted::Resources);
        let context = fields
            .optional("context", |json, at, problems| context(json, at, problems, &mut names));
        let page = fields.optional("page", page);
        drop(fields);
        let body =
            Self::new(subject?, action.map_or(Some(None), |action| action.map(Some))?, resource?);
        let body = Self {
            context: context.unwrap_or_default(),
            page: page.unwrap_or(SearchPage { limit: MAX_LIMIT, cursor: None }),
            ..body
        };
        body.is_sound(wanted, &at, problems).then_some(body)
    }

    fn new(
        subject: Arc<Entity<'j>>,
        action: Option<Arc<Entity<'j>>>,
        resource: Arc<Entity<'j>>,
    ) -> Self {
        let principal = match subject.id {
            "" => Cow::Borrowed(""),
            _ => principal(&subject),
        };
        let name = action.as_ref().map_or("", |action| action.id);
        let mut resource_name = resource_name(resource.kind, name);
        if action.is_none() {
            resource_name.pop();
        }
        let page = SearchPage { limit: MAX_LIMIT, cursor: None };
        let context = Arc::default();
        Self { subject, resource, action, context, principal, resource_name, page }
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
        require(has_subject && !self.subject.kind.is_empty(), Role::Subject, subject);
        if let Some(action) = &self.action {
            require(within(action.id, MAX_ACTION), Role::Action, "a name of 1 to 128 characters");
            let resource = "a type; the type and the name of the action have at most 255 characters together, \
                            percent-encoded";
            require(split_resource(&self.resource_name).is_some(), Role::Resource, resource);
        }
        let has_id = wanted == Wanted::Resources || !self.resource.id.is_empty();
        let resource = "a type and an id that are not empty";
        require(has_id && !self.resource.kind.is_empty(), Role::Resource, resource);
        sound
    }

    /// Returns the name of the action; empty in a search for actions.
    pub(super) fn action(&self) -> &str {
        self.action.as_ref().map_or("", |action| action.id)
    }

    pub(super) fn domain(&self) -> Option<&'j str> {
        self.context.domain
    }

    /// Returns the known attributes.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        let action = self.action.as_ref().map(|action| &*action.attributes);
        Attributes {
            user: AttributeMap::of_members(&self.subject.attributes),
            resource: AttributeMap::of_members(&self.resource.attributes),
            action: AttributeMap::of_members(action.unwrap_or_default()),
            context: AttributeMap::of_members(&self.context.attributes),
        }
    }

    /// Returns the types of the subject and of the resource as their only attributes. No property replaces them.
    pub(super) fn types(&self) -> [[Member<'j>; 1]; 2] {
        let kinds = [self.subject.kind, self.resource.kind];
        kinds.map(|kind| [("type".into(), Json::String(kind.into()))])
    }

    /// Returns the known attributes, with these alone of the subject and of the resource.
    pub(super) fn attributes_with<'a>(
        &'a self,
        [user, resource]: &'a [[Member<'j>; 1]; 2],
    ) -> Attributes<'a> {
        let [user, resource] = [user, resource].map(|members| AttributeMap::of_members(members));
        Attributes { user, resource, ..self.attributes() }
    }
}

/// Reads the page that a request wants. An empty token is that of the first page.
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
