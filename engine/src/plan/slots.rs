//! The attributes that a plan reads: each gets a slot, and each is read at most once per check.

use chrono::{DateTime, SecondsFormat, Utc};
use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::condition::{AttributePath, RequestField};
use crate::json::Member;
use crate::request::Check;
use crate::value::{List, Value};

/// Numbers the attributes of a plan.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    paths: Vec<AttributePath>,
    user: HashMap<Box<str>, usize>,
    resource: HashMap<Box<str>, usize>,
    request: Vec<(RequestField, usize)>,
    token: Vec<(Box<str>, usize)>,
}

/// The values of one check, by slot; `None` is absent.
pub(crate) type Values<'v> = SmallVec<[Option<Value<'v>>; 16]>;

impl Slots {
    /// The slot of `path`, a new one if the plan has not read it so far.
    pub(crate) fn slot(&mut self, path: AttributePath) -> usize {
        let next = self.paths.len();
        let slot = match &path {
            AttributePath::User(name) => *self.user.entry(name.clone()).or_insert(next),
            AttributePath::Resource(name) => *self.resource.entry(name.clone()).or_insert(next),
            AttributePath::Request(field) => find_or_push(&mut self.request, field, next),
            AttributePath::Token(path) => find_or_push(&mut self.token, path, next),
        };
        if slot == next {
            self.paths.push(path);
        }
        slot
    }

    /// The attribute that has the slot.
    pub(crate) fn path(&self, slot: usize) -> &AttributePath {
        &self.paths[slot]
    }

    /// Reads every attribute of the plan from `check`; `now` is `request.time`, see [`Slots::time_text`].
    pub(crate) fn read<'v>(&self, check: &Check<'v>, now: &'v str) -> Values<'v> {
        let mut values: Values<'v> = smallvec![None; self.paths.len()];
        read_members(&self.user, check.attributes.user, &mut values);
        read_members(&self.resource, check.attributes.resource, &mut values);
        for &(field, slot) in &self.request {
            values[slot] = Some(match field {
                RequestField::Subject => Value::Text(check.subject),
                RequestField::Resource => Value::Text(check.resource),
                RequestField::Action => Value::Text(check.action),
                RequestField::Domain => Value::Text(check.domain),
                RequestField::Time => Value::Text(now),
                RequestField::Roles => Value::List(List::Roles(check.roles)),
            });
        }
        if let Some(claims) = check.claims {
            for (path, slot) in &self.token {
                values[*slot] = claims.claim(path).map(Value::from);
            }
        }
        values
    }

    /// `request.time` as text; empty, since nothing reads it, when the plan does not.
    pub(crate) fn time_text(&self, now: DateTime<Utc>) -> String {
        if self.request.iter().any(|(field, _)| *field == RequestField::Time) {
            now.to_rfc3339_opts(SecondsFormat::Millis, true)
        } else {
            String::new()
        }
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        self.paths.iter().map(|path| 2 * path.name_len() + 96).sum()
    }
}

fn find_or_push<K: Clone + PartialEq>(slots: &mut Vec<(K, usize)>, key: &K, next: usize) -> usize {
    if let Some((_, slot)) = slots.iter().find(|(known, _)| known == key) {
        return *slot;
    }
    slots.push((key.clone(), next));
    next
}

/// Walks the request's members, not the plan's slots: the work is bounded by the request's size.
fn read_members<'v>(
    slots: &HashMap<Box<str>, usize>,
    members: &'v [Member<'v>],
    values: &mut Values<'v>,
) {
    if slots.is_empty() {
        return;
    }
    for (name, value) in members {
        if let Some(slot) = slots.get(&**name) {
            values[*slot] = Some(Value::from(value));
        }
    }
}
