//! A check in progress.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use fastrand::Rng;
use portcullis_engine::Json;
use portcullis_engine::condition::{AttributePath, RequestField};
use portcullis_engine::resource::object_of;

use crate::bench::checks::CallerToken;

/// A check whose values can still change. The roles are in the token if there are claims, otherwise in the body.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) subject: String,
    pub(super) roles: Vec<String>,
    pub(super) resource: String,
    pub(super) action: String,
    pub(super) domain: String,
    pub(super) user: BTreeMap<String, Json<'static>>,
    pub(super) object: BTreeMap<String, Json<'static>>,
    pub(super) act: BTreeMap<String, Json<'static>>,
    pub(super) context: BTreeMap<String, Json<'static>>,
    /// Claims of the subject's token beside those that every token has.
    pub(super) claims: BTreeMap<String, Json<'static>>,
    /// The item that a condition on items is made true or false for.
    pub(super) item: Option<Json<'static>>,
    pub(super) now: DateTime<Utc>,
}

/// Returns a JSON string.
pub(super) fn string(text: impl Into<String>) -> Json<'static> {
    Json::String(text.into().into())
}

/// Returns an instant in the format of requests and tokens.
pub(super) fn date_time(instant: DateTime<Utc>) -> Json<'static> {
    string(instant.to_rfc3339_opts(SecondsFormat::Millis, true))
}

fn strings(texts: &[String]) -> Json<'static> {
    Json::Array(texts.iter().map(string).collect())
}

fn object(members: impl IntoIterator<Item = (String, Json<'static>)>) -> Json<'static> {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

impl Draft {
    pub(super) fn is_principal(&self, name: &str) -> bool {
        self.subject == name || self.roles.iter().any(|role| role == name)
    }

    /// Returns the value of an attribute.
    pub(super) fn get(&self, path: &AttributePath) -> Option<Json<'static>> {
        match path {
            AttributePath::User(name) if **name == *"roles" => Some(strings(&self.roles)),
            AttributePath::User(name) => self.user.get(&**name).cloned(),
            AttributePath::Resource(name) => self.object.get(&**name).cloned(),
            AttributePath::Action(name) => self.act.get(&**name).cloned(),
            AttributePath::Context(name) => self.context.get(&**name).cloned(),
            AttributePath::Token(path) => self.claims.get(&**path).cloned(),
            AttributePath::Item => self.item.clone(),
            // The benchmark does not run resolvers.
            AttributePath::Resolver(_) => None,
            AttributePath::Request(field) => Some(match field {
                RequestField::Subject => string(&self.subject),
                RequestField::Resource => string(&self.resource),
                RequestField::Object => string(object_of(&self.resource)),
                RequestField::Action | RequestField::WrittenAction => string(&self.action),
                RequestField::Domain => string(&self.domain),
                RequestField::Time => date_time(self.now),
                RequestField::Roles => strings(&self.roles),
            }),
        }
    }

    /// Sets or removes an attribute. The resource, and an attribute that cannot have the value, stay unchanged.
    pub(super) fn set(&mut self, path: &AttributePath, value: Option<Json<'static>>) {
        let (map, name) = match path {
            AttributePath::User(name) if **name == *"roles" => return self.set_roles(value),
            AttributePath::User(name) => (&mut self.user, name),
            AttributePath::Resource(name) => (&mut self.object, name),
            AttributePath::Action(name) => (&mut self.act, name),
            AttributePath::Context(name) => (&mut self.context, name),
            AttributePath::Token(path) => (&mut self.claims, path),
            AttributePath::Request(RequestField::Roles) => return self.set_roles(value),
            AttributePath::Resolver(_) => return,
            AttributePath::Item => return self.item = value,
            AttributePath::Request(field) => {
                if let Some(Json::String(text)) = value {
                    self.set_field(*field, text.into_owned());
                }
                return;
            }
        };
        match value {
            Some(value) => map.insert(name.to_string(), value),
            None => map.remove(&**name),
        };
    }

    fn set_roles(&mut self, value: Option<Json<'static>>) {
        let items = value.as_ref().and_then(Json::as_array).unwrap_or_default();
        self.roles = items.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    }

    fn set_field(&mut self, field: RequestField, text: String) {
        match field {
            // No field of a check may be empty.
            _ if text.is_empty() => {}
            RequestField::Subject => self.subject = text,
            RequestField::Action | RequestField::WrittenAction => self.action = text,
            RequestField::Domain => self.domain = text,
            RequestField::Time => self.now = text.parse().unwrap_or(self.now),
            // Another resource would have another plan, and roles are not a text.
            RequestField::Resource | RequestField::Object | RequestField::Roles => {}
        }
    }

    /// Removes one attribute.
    pub(super) fn forget(&mut self, rng: &mut Rng) {
        let map = if rng.bool() { &mut self.user } else { &mut self.object };
        if let Some(name) = rng.choice(map.keys().cloned().collect::<Vec<_>>()) {
            map.remove(&name);
        }
    }

    /// Returns the token of the subject, if there are claims.
    pub(super) fn token(&self) -> Option<CallerToken> {
        if self.claims.is_empty() {
            return None;
        }
        let own = [
            ("sub".to_owned(), string(&self.subject)),
            ("dom".to_owned(), string(&self.domain)),
            ("realm_access".to_owned(), object([("roles".to_owned(), strings(&self.roles))])),
        ];
        Some(CallerToken {
            subject: self.subject.clone(),
            roles: self.roles.clone(),
            claims: object(own.into_iter().chain(self.claims.clone())),
        })
    }

    /// Returns the body of the check.
    pub(super) fn body(&self) -> Json<'static> {
        let mut user = self.user.clone();
        // With a token the roles are in it, and those of the request would not count.
        if self.claims.is_empty() && !self.roles.is_empty() {
            user.insert("roles".to_owned(), strings(&self.roles));
        }
        let maps = [
            ("user", user),
            ("resource", self.object.clone()),
            ("action", self.act.clone()),
            ("context", self.context.clone()),
        ];
        let maps = maps.into_iter().filter(|(_, map)| !map.is_empty());
        let maps: Vec<_> = maps.map(|(name, map)| (name.to_owned(), object(map))).collect();
        let texts = [
            ("subject", &self.subject),
            ("resource", &self.resource),
            ("action", &self.action),
            ("domain", &self.domain),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), string(text)));
        let attributes = (!maps.is_empty()).then(|| ("attributes".to_owned(), object(maps)));
        object(texts.into_iter().chain(attributes))
    }
}
