//! The subjects and resources of checks, which are made of parts of AuthZEN requests.

use std::borrow::Cow;

use portcullis_engine::entities::{self, USER};
use portcullis_engine::fields::within;
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_engine::resource::{MAX_RESOURCE, encoded_resource, split_resource};

/// The names that are compared with a new one before it is made. Most questions of a request have few types and actions.
const RECENT: usize = 8;

/// A name of a check.
#[derive(Clone, Copy, Debug)]
pub(super) enum MadeName<'a> {
    /// A part of the request.
    Sent(&'a str),
    /// The number of a name that was made.
    Made(usize),
}

impl Default for MadeName<'_> {
    fn default() -> Self {
        Self::Sent("")
    }
}

/// Names that were made of two parts.
#[derive(Debug, Default)]
pub(super) struct MadeNames<'a> {
    names: Vec<NameOfParts<'a>>,
}

#[derive(Debug)]
struct NameOfParts<'a> {
    what: What,
    parts: (&'a str, &'a str),
    name: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Principal,
    Resource,
}

impl<'a> MadeNames<'a> {
    /// Returns the subject as rules name it; `None` if no check can have it.
    pub(super) fn principal(&mut self, kind: &'a str, id: &'a str) -> Option<MadeName<'a>> {
        // Rules name a user by its id alone.
        if kind == USER {
            return within(id, MAX_SUBJECT).then_some(MadeName::Sent(id));
        }
        self.name(What::Principal, (kind, id), |(kind, id)| {
            name_of_subject(kind, id).map(Box::from)
        })
    }

    /// Returns the resource of a check; `None` if no check can have it.
    pub(super) fn resource(&mut self, kind: &'a str, action: &'a str) -> Option<MadeName<'a>> {
        self.name(What::Resource, (kind, action), |(kind, action)| {
            name_of_resource(kind, action).map(Box::from)
        })
    }

    /// Returns the text of a name that these names returned.
    pub(super) fn text<'t>(&'t self, name: MadeName<'a>) -> &'t str
    where
        'a: 't,
    {
        match name {
            MadeName::Sent(text) => text,
            MadeName::Made(number) => self.names.get(number).map_or("", |made| &made.name),
        }
    }

    fn name(
        &mut self,
        what: What,
        parts: (&'a str, &'a str),
        make: impl FnOnce((&'a str, &'a str)) -> Option<Box<str>>,
    ) -> Option<MadeName<'a>> {
        let mut recent = self.names.iter().enumerate().rev().take(RECENT);
        let known = recent.find(|(_, made)| made.what == what && made.parts == parts);
        if let Some((number, _)) = known {
            return Some(MadeName::Made(number));
        }
        let name = make(parts)?;
        self.names.push(NameOfParts { what, parts, name });
        Some(MadeName::Made(self.names.len() - 1))
    }
}

/// Returns the subject of a check; `None` if no check can have it. A request has up to 10,000 questions, which may share a
/// type or an id of megabytes: their length is looked at before a name is made of them.
fn name_of_subject<'j>(kind: &str, id: &'j str) -> Option<Cow<'j, str>> {
    let is_short = within(kind, MAX_SUBJECT) && within(id, MAX_SUBJECT);
    let principal = is_short.then(|| entities::principal(kind, id))?;
    within(&principal, MAX_SUBJECT).then_some(principal)
}

/// Returns the resource of a check; `None` if no check can have it. Looks at the lengths first, as [`name_of_subject`] does:
/// encoding never shortens.
fn name_of_resource(kind: &str, action: &str) -> Option<String> {
    let is_short = within(kind, MAX_RESOURCE) && within(action, MAX_RESOURCE);
    let name = is_short.then(|| encoded_resource(kind, action))?;
    split_resource(&name).is_some().then_some(name)
}
