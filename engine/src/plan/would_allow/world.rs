//! The check while its attributes are changed, one after the other.

use chrono::TimeDelta;

use crate::attributes::{AttributeMap, ROLES};
use crate::condition::AttributePath;
use crate::json::{Json, Member};
use crate::request::{Attributes, Check};
use crate::types::KEYS;
use crate::value::AttributeValue;

/// A check whose attributes can be changed. What the directory supplies stays as it is.
pub(super) struct World<'e> {
    check: Check<'e>,
    /// The attributes as they are sent, `null` included, by kind: user, resource, action, context.
    sent: [Vec<Member<'e>>; 4],
}

impl<'e> World<'e> {
    pub(super) fn new(check: &Check<'e>) -> Self {
        let Attributes { user, resource, action, context } = check.attributes;
        let sent = [user, resource, action, context].map(|map| {
            let owned = map.named().filter_map(|(name, value)| {
                Some((name.into(), value.map_or(Some(Json::Null), json)?))
            });
            owned.collect()
        });
        Self { check: *check, sent }
    }

    /// Calls `use_it` with the check as it is now.
    pub(super) fn with_check<T>(&self, use_it: impl FnOnce(&Check<'_>) -> T) -> T {
        self.with_check_after(TimeDelta::zero(), use_it)
    }

    /// Calls `use_it` with the check as it will be after `time`.
    pub(super) fn with_check_after<T>(
        &self,
        time: TimeDelta,
        use_it: impl FnOnce(&Check<'_>) -> T,
    ) -> T {
        let [user, resource, action, context] = &self.sent;
        let layers = [
            self.check.attributes.user.layers_over(user),
            self.check.attributes.resource.layers_over(resource),
        ];
        let [of_user, of_resource] = &layers;
        let [user, resource] = [(of_user, user), (of_resource, resource)].map(|(layers, sent)| {
            layers.as_ref().map_or(AttributeMap::from_members(sent), AttributeMap::from_layers)
        });
        let mut check = self.check;
        check.now += time;
        check.attributes = Attributes {
            user,
            resource,
            action: AttributeMap::from_members(action),
            context: AttributeMap::from_members(context),
        };
        use_it(&check)
    }

    /// Returns whether another request can have another value of the attribute at `path` and be the same question: it has the
    /// same roles, and where the tenant has a directory is about the same object.
    pub(super) fn can_change(&self, path: &AttributePath, has_directory: bool) -> bool {
        match path {
            AttributePath::User(name) => {
                let user = self.check.attributes.user;
                *name != ROLES && user.is_up_to_request(name) && !user.is_followed(name)
            }
            AttributePath::Resource(name) => {
                let resource = self.check.attributes.resource;
                !(has_directory && KEYS.contains(&&**name))
                    && resource.is_up_to_request(name)
                    && !resource.is_followed(name)
            }
            AttributePath::Action(_) | AttributePath::Context(_) => true,
            AttributePath::Request(_)
            | AttributePath::Token(_)
            | AttributePath::Resolver(_)
            | AttributePath::Item => false,
        }
    }

    /// Returns what is sent of the attribute at `path`.
    pub(super) fn sent(&self, path: &AttributePath) -> Option<&Json<'e>> {
        let (kind, name) = path.sent()?;
        let sent = &self.sent[place(kind)];
        sent.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Replaces what is sent of the attribute at `path`; `None` leaves it out. Returns what was sent.
    pub(super) fn put(
        &mut self,
        path: &AttributePath,
        value: Option<Json<'e>>,
    ) -> Option<Json<'e>> {
        let (kind, name) = path.sent()?;
        let sent = &mut self.sent[place(kind)];
        let known = sent.iter().position(|(own, _)| own == name);
        // The order of attributes plays no part.
        let before = known.map(|index| sent.swap_remove(index).1);
        sent.extend(value.map(|value| (name.to_owned().into(), value)));
        before
    }
}

/// Returns the place of a kind of attributes.
fn place(kind: &str) -> usize {
    match kind {
        "user" => 0,
        "resource" => 1,
        "action" => 2,
        _ => 3,
    }
}

/// Returns a value of a request as JSON; `None` if it has none.
pub(super) fn json(value: AttributeValue<'_>) -> Option<Json<'static>> {
    Some(value.to_json().into_owned()).filter(|json| *json != Json::Null)
}
