//! Questions of AuthZEN requests, and the checks that they become (`docs/semantics.md`, section 11.6).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use portcullis_engine::CheckBody;
use portcullis_engine::entities;
use portcullis_engine::fields::within;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT};
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_engine::resource::{MAX_RESOURCE, split_resource};

use super::entity::Entity;
use super::topic::Topic;

/// The context of a request.
#[derive(Debug, Default)]
pub(super) struct Context<'j> {
    pub(super) attributes: Vec<Member<'j>>,
    /// The domain of the check.
    pub(super) domain: Option<&'j str>,
}

/// One question of a request, which a check answers.
#[derive(Debug)]
pub(super) struct Question<'j> {
    subject: Arc<Entity<'j>>,
    action: Arc<Entity<'j>>,
    resource: Arc<Entity<'j>>,
    context: Arc<Context<'j>>,
    principal: Cow<'j, str>,
    resource_name: Arc<str>,
}

/// The resource of the check before: most questions of a request have one type and one action.
#[derive(Debug, Default)]
pub(super) struct LastResource<'j>(Option<(&'j str, &'j str, Arc<str>)>);

impl<'j> LastResource<'j> {
    /// Returns the resource of a check, as [`name_of_resource`] does.
    fn name(&mut self, kind: &'j str, action: &'j str) -> Option<Arc<str>> {
        if let Some((last_kind, last_action, name)) = &self.0
            && (*last_kind, *last_action) == (kind, action)
        {
            return Some(Arc::clone(name));
        }
        let name: Arc<str> = name_of_resource(kind, action)?.into();
        self.0 = Some((kind, action, Arc::clone(&name)));
        Some(name)
    }
}

impl<'j> Question<'j> {
    /// Returns the check.
    pub(super) fn check(&self) -> CheckBody<'_> {
        CheckBody {
            subject: &self.principal,
            resource: &self.resource_name,
            action: self.action.id,
            domain: self.context.domain,
            attributes: Attributes {
                user: AttributeMap::of_members(&self.subject.attributes),
                resource: AttributeMap::of_members(&self.resource.attributes),
                action: AttributeMap::of_members(&self.action.attributes),
                context: AttributeMap::of_members(&self.context.attributes),
            },
        }
    }

    /// Returns what the question is about.
    pub(super) fn topic(&self) -> Topic<'j> {
        Topic { action: self.action.id, kind: self.resource.kind, domain: self.context.domain }
    }

    /// Returns the question about complete entities. Notes what a check cannot have at `at`.
    pub(super) fn new(
        [subject, action, resource]: [Arc<Entity<'j>>; 3],
        context: Arc<Context<'j>>,
        last: &mut LastResource<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let principal = name_of_subject(subject.kind, subject.id);
        let resource_name = last.name(resource.kind, action.id).filter(|_| !resource.id.is_empty());
        if principal.is_none() {
            let about = format!(
                "a type and an id that are not empty and have at most {MAX_SUBJECT} characters together"
            );
            problems.expected(&at.key("subject"), about);
        }
        let is_action = within(action.id, MAX_ACTION);
        if !is_action {
            let about = format!("a name of 1 to {MAX_ACTION} characters");
            problems.expected(&at.key("action"), about);
        }
        if resource_name.is_none() {
            let about = "an id and a type that are not empty; the type and the name of the action have at most 255 \
                         characters together, percent-encoded";
            problems.expected(&at.key("resource"), about);
        }
        let (principal, resource_name) = (principal?, resource_name.filter(|_| is_action)?);
        Some(Self { subject, action, resource, context, principal, resource_name })
    }
}

/// Returns the subject of a check; `None` if no check can have it. A request has up to 10,000 questions, which may share a
/// type or an id of megabytes: their length is looked at before a name is made of them.
pub(super) fn name_of_subject<'j>(kind: &str, id: &'j str) -> Option<Cow<'j, str>> {
    let is_short = within(kind, MAX_SUBJECT) && within(id, MAX_SUBJECT);
    let principal = is_short.then(|| entities::principal(kind, id))?;
    within(&principal, MAX_SUBJECT).then_some(principal)
}

/// Returns the resource of a check; `None` if no check can have it. Looks at the lengths first, as [`name_of_subject`] does:
/// encoding never shortens.
pub(super) fn name_of_resource(kind: &str, action: &str) -> Option<String> {
    let is_short = within(kind, MAX_RESOURCE) && within(action, MAX_RESOURCE);
    let name = is_short.then(|| resource_name(kind, action))?;
    split_resource(&name).is_some().then_some(name)
}

/// Returns the subject as rules name it.
pub(super) fn principal<'j>(subject: &Entity<'j>) -> Cow<'j, str> {
    entities::principal(subject.kind, subject.id)
}

/// Returns the resource of a check: the type, a colon, and the name of the action. White space, control characters and `%`
/// are percent-encoded, and in the name of the action also colons, so that two requests never have one resource.
pub(super) fn resource_name(kind: &str, action: &str) -> String {
    let mut name = String::with_capacity(kind.len() + 1 + action.len());
    encode(kind, |_| false, &mut name);
    name.push(':');
    encode(action, |c| c == ':', &mut name);
    name
}

fn encode(text: &str, also: impl Fn(char) -> bool, to: &mut String) {
    // Most names need no encoding.
    if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%' && !also(byte.into())) {
        to.push_str(text);
        return;
    }
    for c in text.chars() {
        if c == '%' || c.is_whitespace() || c.is_control() || also(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(to, "%{byte:02X}");
            }
        } else {
            to.push(c);
        }
    }
}
