//! The content of a tenant as `POST /api/v1/apply` takes it (`docs/semantics.md`, section 10.1).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use portcullis_engine::{Json, json};
use portcullis_model::folder_webhook::FolderWebhook;
use portcullis_model::named_condition::NewCondition;
use portcullis_model::policy::NewPolicy;
use portcullis_model::relation_declaration::RelationDeclaration;
use portcullis_model::types::{NewType, PropertyDeclaration};
use serde::Serialize;

use crate::resolvers::SampleResolver;
use crate::users::SampleUser;
use crate::{Bundle, SecretUse};

/// The members that every token has; the others are further claims of a user.
const TOKEN_CLAIMS: [&str; 3] = ["sub", "dom", "realm_access"];

/// The values of secrets, by the names of their variables.
pub type SecretValues = BTreeMap<String, String>;

/// The component of a resolver, as the service gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleContent {
    /// In hexadecimal.
    pub sha256: String,
    /// The bytes in base64, if the service needs them.
    pub bytes: Option<String>,
}

impl Bundle {
    /// Returns the references to variables that `values` lacks.
    pub fn missing_secrets(&self, values: &SecretValues) -> Vec<&SecretUse> {
        let secrets = self.secrets.iter();
        secrets.filter(|used| !values.contains_key(used.reference.variable())).collect()
    }

    /// Returns the content of the tenant: each kind that the folder has. `modules` are the modules of its resolvers, in
    /// their order. A secret without a value in `secrets` stays a reference.
    pub fn content(&self, secrets: &SecretValues, modules: &[ModuleContent]) -> Json<'static> {
        let mut kinds = vec![
            ("resources", array(&self.resources, written)),
            ("rules", array(&self.rules, written)),
            ("policies", array(&self.policies, policy)),
        ];
        // A kind that the folder lacks is left out, which an apply does not take for an empty list.
        if let Some(types) = &self.types {
            kinds.push(("types", array(types, declared_type)));
        }
        if let Some(roles) = &self.roles {
            kinds.push(("roles", array(roles, written)));
        }
        if let Some(conditions) = &self.conditions {
            kinds.push(("conditions", array(conditions, condition)));
        }
        if self.has_resolvers {
            // Both lists have the order of the file, so that each resolver meets its own module.
            let resolvers = self.resolvers.iter().zip(modules);
            let resolvers = resolvers.map(|(one, module)| resolver(one, module, secrets));
            kinds.push(("resolvers", Json::Array(resolvers.collect())));
        }
        if let Some(webhooks) = &self.webhooks {
            kinds.push(("webhooks", array(webhooks, |one| webhook(one, secrets))));
        }
        if let Some(settings) = &self.written_settings {
            kinds.push(("settings", settings.clone()));
        }
        let named: HashSet<&str> =
            self.cases.iter().filter_map(|case| case.caller.as_deref()).collect();
        // The other users have tokens in `portcullis dev` alone.
        let users = self.users.iter().filter(|one| named.contains(&*one.sub));
        kinds.push(("cases", array(&self.cases, |case| case.json.clone())));
        kinds.push(("users", Json::Array(users.map(user).collect())));
        object(kinds)
    }
}

fn array<T>(items: &[T], write: impl Fn(&T) -> Json<'static>) -> Json<'static> {
    Json::Array(items.iter().map(write).collect())
}

/// Returns a value as it is serialized.
fn written(one: &impl Serialize) -> Json<'static> {
    parsed(&serde_json::to_string(one).unwrap_or_default())
}

fn object(members: Vec<(&'static str, Json<'static>)>) -> Json<'static> {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn text(text: &str) -> Json<'static> {
    Json::String(Cow::Owned(text.to_owned()))
}

fn optional(value: Option<&str>) -> Json<'static> {
    value.map_or(Json::Null, text)
}

fn declared_type(one: &NewType) -> Json<'static> {
    let properties = one.properties.iter();
    let properties = properties.map(|(name, declared)| (name.clone().into(), property(declared)));
    let relations = one.relations.iter();
    let relations = relations.map(|(name, declared)| (name.clone().into(), relation(declared)));
    object(vec![
        ("type", text(&one.kind)),
        ("about", optional(one.about.as_deref())),
        ("properties", Json::Object(properties.collect())),
        ("relations", Json::Object(relations.collect())),
    ])
}

fn relation(one: &RelationDeclaration) -> Json<'static> {
    let json = one.0.to_json().into_owned();
    let Some(before) = &one.0.renamed_from else { return json };
    let mut members = match json {
        Json::Object(members) => members,
        // The short form is a line, which cannot say the former name.
        line => vec![("from".into(), line)],
    };
    members.push(("renamed_from".into(), text(before)));
    Json::Object(members)
}

fn property(one: &PropertyDeclaration) -> Json<'static> {
    object(vec![
        ("type", text(&one.kind.to_string())),
        ("about", optional(one.about.as_deref())),
        ("from", optional(one.from.map(|from| from.into_str()))),
    ])
}

fn condition(one: &NewCondition) -> Json<'static> {
    object(vec![
        ("name", text(&one.name)),
        ("about", optional(one.about.as_deref())),
        ("when", parsed(one.when.json.text())),
    ])
}

fn policy(one: &NewPolicy) -> Json<'static> {
    object(vec![
        ("name", text(&one.name)),
        ("description", optional(one.description.as_deref())),
        ("resource", text(&one.resource.to_string())),
        ("effect", text(one.effect.into_str())),
        ("priority", Json::Number(i64::from(one.priority).into())),
        ("enabled", Json::Bool(one.enabled)),
        ("format", text(one.rule_data.format.into_str())),
        ("rule_data", parsed(one.rule_data.json.text())),
    ])
}

/// Returns JSON that this program wrote.
fn parsed(written: &str) -> Json<'static> {
    json::parse(written.as_bytes()).map_or(Json::Null, Json::into_owned)
}

fn resolver(one: &SampleResolver, module: &ModuleContent, secrets: &SecretValues) -> Json<'static> {
    let manifest = manifest(one, secrets);
    // The object is always there: the manifest was serialized by this program.
    let mut members = manifest.as_object().unwrap_or_default().to_vec();
    if !one.enabled {
        members.push(("enabled".into(), Json::Bool(false)));
    }
    members.push(("sha256".into(), text(&module.sha256)));
    if let Some(bytes) = &module.bytes {
        members.push(("module".into(), text(bytes)));
    }
    Json::Object(members)
}

fn manifest(one: &SampleResolver, values: &SecretValues) -> Json<'static> {
    let SampleResolver { manifest, references, kept_secrets, .. } = one;
    let stored = parsed(&String::from_utf8_lossy(&manifest.secrets.to_plain()));
    let secrets = stored.as_object().unwrap_or_default().iter().map(|(name, written)| {
        // A `null` tells the service to keep the value that it has.
        if kept_secrets.contains(&**name) {
            return (name.clone(), Json::Null);
        }
        let value = references.get(&**name).and_then(|one| values.get(one.variable()));
        (name.clone(), value.map_or_else(|| written.clone(), |value| text(value)))
    });
    let secrets = Json::Object(secrets.collect());
    // The serialized form has only the names of secrets, so the values are put in afterwards.
    let shown = written(&manifest.without_secrets());
    let members = shown.as_object().unwrap_or_default().iter().map(|(name, value)| {
        let value = if name == "secrets" { secrets.clone() } else { value.clone() };
        (name.clone(), value)
    });
    Json::Object(members.collect())
}

fn webhook(one: &FolderWebhook, values: &SecretValues) -> Json<'static> {
    let secret = one.secret.as_ref().map_or(Json::Null, |reference| {
        let value = values.get(reference.variable());
        value.map_or_else(|| text(&reference.to_string()), |value| text(value))
    });
    object(vec![
        ("url", text(&one.url)),
        ("events", array(&one.events, |event| text(event.into_str()))),
        ("secret", secret),
    ])
}

fn user(one: &SampleUser) -> Json<'static> {
    let claims = one.claims.as_object().unwrap_or_default().iter();
    // The claims that every token has are members of a user, or are the same for each user.
    let claims = claims.filter(|(name, _)| !TOKEN_CLAIMS.contains(&&**name)).cloned();
    object(vec![
        ("sub", text(&one.sub)),
        ("roles", array(&one.roles, |role| text(role))),
        ("description", optional(one.description.as_deref())),
        ("claims", Json::Object(claims.collect())),
    ])
}
