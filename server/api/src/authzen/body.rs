//! The bodies of AuthZEN requests (`docs/semantics.md`, section 11.6).

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use portcullis_engine::batch::MAX_ITEMS;
use portcullis_engine::fields::{Fields, boolean, text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::names::named;
use portcullis_engine::rbac::MAX_DOMAIN;
use portcullis_engine::{Invalid, Json};
use portcullis_limits::MemoryCharge;

use super::entity::{Entity, PartialEntity, Role, object_attributes};
use super::flatten::NameBudget;
use super::options::Options;
use super::question::{Context, LastResource, Question};
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;

/// A JSON body of a standard route: another type is a 400 there.
#[derive(Debug)]
pub(crate) struct StandardBody(JsonBody);

impl HandlerParameter for StandardBody {}

impl<S: Send + Sync> FromRequest<S> for StandardBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match JsonBody::from_request(request, state).await {
            Ok(body) => Ok(Self(body)),
            Err(ApiError::UnsupportedMediaType(expected)) => Err(ApiError::bad_request(format!(
                "the body is of another type: send `Content-Type: {expected}`"
            ))),
            Err(error) => Err(error),
        }
    }
}

impl StandardBody {
    /// Returns the text of the body, or a 400 if the request has no body.
    pub(crate) fn text(&self) -> Result<&[u8], ApiError> {
        self.0.text()
    }

    /// Charges the evaluations that were read of the body.
    pub(super) fn charge_items(&self, items: usize) -> Result<MemoryCharge, ApiError> {
        self.0.charge_items(items)
    }

    /// Parses the body into a tree.
    pub(crate) fn parse(&self) -> Result<Json<'_>, ApiError> {
        self.0.parse()
    }
}

/// The body of an evaluation, or of evaluations.
#[derive(Debug)]
pub(super) struct RequestBody<'j> {
    pub(super) options: Options,
    pub(super) questions: Questions<'j>,
}

/// The questions of a body.
#[derive(Debug)]
pub(super) enum Questions<'j> {
    One(Question<'j>),
    /// At least one; the fault of a question is its own.
    Many(Vec<Result<Question<'j>, Invalid>>),
}

impl<'j> RequestBody<'j> {
    /// Reads the body of an evaluation.
    ///
    /// # Errors
    /// Every missing or ill-typed member, by JSON pointer.
    pub(super) fn evaluation(json: &'j Json<'j>) -> Result<Self, ApiError> {
        Self::parse(json, false)
    }

    /// Reads the body of evaluations. Without any, it is an evaluation.
    ///
    /// # Errors
    /// Every fault that is not of a single evaluation, by JSON pointer.
    pub(super) fn evaluations(json: &'j Json<'j>) -> Result<Self, ApiError> {
        Self::parse(json, true)
    }

    fn parse(json: &'j Json<'j>, may_be_many: bool) -> Result<Self, ApiError> {
        let mut problems = Problems::default();
        let body = Self::read(json, may_be_many, &mut problems);
        Ok(problems.finish(body)?)
    }

    fn read(json: &'j Json<'j>, may_be_many: bool, problems: &mut Problems) -> Option<Self> {
        let (at, mut names) = (Place::root(), NameBudget::default());
        let mut fields = Fields::open(json, &at, problems)?;
        let defaults = Parts::read(&mut fields, &mut names);
        let read = if may_be_many { options } else { known_options };
        let options = fields.optional("options", read).unwrap_or_default();
        let items = if may_be_many { fields.optional("evaluations", items) } else { None };
        drop(fields);
        let questions = match items {
            Some(items) if !items.is_empty() => {
                let defaults = Defaults::of(defaults);
                let mut last = LastResource::default();
                let read = |(index, item)| defaults.question(item, index, &mut names, &mut last);
                Questions::Many(items.iter().enumerate().map(read).collect())
            }
            _ => Questions::One(defaults.question(&at, problems)?),
        };
        Some(Self { options, questions })
    }
}

fn items<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [Json<'j>]> {
    match json.as_array() {
        Some(items) if items.len() <= MAX_ITEMS => Some(items),
        Some(items) => {
            problems.expected(at, format!("at most {MAX_ITEMS} evaluations, not {}", items.len()));
            None
        }
        None => {
            problems.expected(at, format!("an array, not {}", json.kind()));
            None
        }
    }
}

fn options(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Options> {
    let mut fields = Fields::open(json, at, problems)?;
    let semantic = fields.optional("evaluations_semantic", named);
    let reasons = fields.optional("reasons", boolean);
    Some(Options { semantic: semantic.unwrap_or_default(), reasons: reasons.unwrap_or_default() })
}

/// Reads the options of a single evaluation, to which the standard gives none: what is not understood is ignored.
fn known_options(json: &Json<'_>, _: &Place<'_>, _: &mut Problems) -> Option<Options> {
    let reasons = matches!(json.get("reasons"), Some(Json::Bool(true)));
    Some(Options { reasons, ..Options::default() })
}

/// The entities and the context that an object has.
#[derive(Debug, Default)]
struct Parts<'j> {
    entities: [Option<PartialEntity<'j>>; 3],
    context: Option<Arc<Context<'j>>>,
}

const ROLES: [Role; 3] = [Role::Subject, Role::Action, Role::Resource];

impl<'j> Parts<'j> {
    fn read(fields: &mut Fields<'j, '_>, names: &mut NameBudget) -> Self {
        let entities = ROLES.map(|role| {
            fields.optional(role.member(), |json, at, problems| {
                PartialEntity::read(role, json, at, problems, names)
            })
        });
        let context =
            fields.optional("context", |json, at, problems| context(json, at, problems, names));
        Self { entities, context }
    }

    /// Returns the question of an object without defaults.
    fn question(self, at: &Place<'_>, problems: &mut Problems) -> Option<Question<'j>> {
        let Self { entities: [subject, action, resource], context } = self;
        let mut complete = |part: Option<PartialEntity<'j>>, role: Role| match part {
            Some(part) => part.complete(role, &at.key(role.member()), problems),
            None => {
                problems.missing(at, role.member());
                None
            }
        };
        let subject = complete(subject, Role::Subject);
        let action = complete(action, Role::Action);
        let resource = complete(resource, Role::Resource);
        let entities = [subject?, action?, resource?];
        let (context, mut last) = (context.unwrap_or_default(), LastResource::default());
        Question::new(entities, context, &mut last, at, problems)
    }
}

pub(super) fn context<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
    names: &mut NameBudget,
) -> Option<Arc<Context<'j>>> {
    let attributes = object_attributes(json, at, problems, names)?;
    let mut fields = Fields::open(json, at, problems)?;
    let domain = fields.optional("domain", text(MAX_DOMAIN));
    Some(Arc::new(Context { attributes, domain }))
}

/// The defaults of evaluations. What is complete is shared by all that take it.
struct Defaults<'j> {
    parts: [PartialEntity<'j>; 3],
    complete: [Option<Arc<Entity<'j>>>; 3],
    context: Arc<Context<'j>>,
}

impl<'j> Defaults<'j> {
    fn of(parts: Parts<'j>) -> Self {
        let Parts { entities, context } = parts;
        let mut complete = [None, None, None];
        let mut kept: [PartialEntity<'j>; 3] = Default::default();
        for (((part, role), complete), kept) in
            entities.into_iter().zip(ROLES).zip(&mut complete).zip(&mut kept)
        {
            let Some(part) = part else { continue };
            *kept = part.names_only();
            if part.is_complete(role) {
                *complete = part.complete(role, &Place::root(), &mut Problems::default());
            }
        }
        Self { parts: kept, complete, context: context.unwrap_or_default() }
    }

    /// Reads the evaluation at `index`. Its faults are its own.
    fn question(
        &self,
        json: &'j Json<'j>,
        index: usize,
        names: &mut NameBudget,
        last: &mut LastResource<'j>,
    ) -> Result<Question<'j>, Invalid> {
        let mut problems = Problems::default();
        let (root, list) = (Place::root(), "evaluations");
        let list = root.key(list);
        let question = self.read(json, &list.index(index), names, last, &mut problems);
        problems.finish(question)
    }

    fn read(
        &self,
        json: &'j Json<'j>,
        at: &Place<'_>,
        names: &mut NameBudget,
        last: &mut LastResource<'j>,
        problems: &mut Problems,
    ) -> Option<Question<'j>> {
        let mut fields = Fields::open(json, at, problems)?;
        let Parts { entities: [subject, action, resource], context } =
            Parts::read(&mut fields, names);
        drop(fields);
        let [default_subject, default_action, default_resource] = &self.parts;
        let [whole_subject, whole_action, whole_resource] = &self.complete;
        let mut choose = |own: Option<PartialEntity<'j>>,
                          default: &PartialEntity<'j>,
                          whole: &Option<Arc<Entity<'j>>>,
                          role: Role| {
            let place = at.key(role.member());
            match (own, whole) {
                (Some(own), _) => own.or(default).complete(role, &place, problems),
                (None, Some(whole)) => Some(Arc::clone(whole)),
                (None, None) if default.is_empty() => {
                    problems.missing(at, role.member());
                    None
                }
                (None, None) => default.names_only().complete(role, &place, problems),
            }
        };
        let subject = choose(subject, default_subject, whole_subject, Role::Subject);
        let action = choose(action, default_action, whole_action, Role::Action);
        let resource = choose(resource, default_resource, whole_resource, Role::Resource);
        let entities = [subject?, action?, resource?];
        let context = context.unwrap_or_else(|| Arc::clone(&self.context));
        Question::new(entities, context, last, at, problems)
    }
}

#[cfg(test)]
mod tests;
