//! Objects as bundles write them: for the fields of a plan and for the export.

use portcullis_engine::Format;
use portcullis_model::apply::FieldChange;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::resource::Registration;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_model::webhook::WebhookRecord;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The members of an object, each as compact JSON. A member that has its default is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content(Vec<(String, String)>);

impl Content {
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // Texts, numbers, lists and maps of them: there is nothing that could not be written.
        let text = serde_json::to_string(&value).unwrap_or_default();
        self.0.push((name.to_owned(), text));
        self
    }

    fn with_text(mut self, name: &str, text: &str) -> Self {
        self.0.push((name.to_owned(), text.to_owned()));
        self
    }

    /// Adds the member unless the value is `null`, empty or `default`.
    fn with_other_than(self, name: &str, value: Value, default: &Value) -> Self {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if is_empty || value == *default { self } else { self.with(name, value) }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, text)| &**text)
    }

    /// Returns the members that differ, in the order of `self`, and then those that only `after` has.
    pub(super) fn changes(&self, after: &Self) -> Vec<FieldChange> {
        let new = after.0.iter().filter(|(name, _)| self.get(name).is_none());
        let names = self.0.iter().chain(new).map(|(name, _)| name);
        let differs = |name: &&String| self.get(name) != after.get(name);
        let change =
            |name: &String| FieldChange::new(format!("/{name}"), self.get(name), after.get(name));
        names.filter(differs).map(change).collect()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, text) in &self.0 {
            let raw: &RawValue = serde_json::from_str(text).map_err(serde::ser::Error::custom)?;
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

/// Returns a resource as a bundle writes it.
pub(super) fn from_resource(registration: &Registration) -> Content {
    let Registration { name, display_name, service_name, default_roles } = registration;
    Content::default()
        .with("name", name)
        .with_other_than("displayName", display_name.as_deref().into(), &Value::Null)
        .with_other_than("serviceName", service_name.as_deref().into(), &Value::Null)
        .with_other_than("defaultRoles", default_roles.as_slice().into(), &Value::Null)
}

/// Returns a rule as a bundle writes it. Its domain is absent if it is `domain`.
pub(super) fn from_rule(rule: &RuleRecord, domain: &str) -> Content {
    let tuple = &rule.tuple;
    Content::default()
        .with("sub", &tuple.sub)
        .with_other_than("dom", tuple.dom.as_str().into(), &domain.into())
        .with("obj", tuple.obj.to_string())
        .with("act", &tuple.act)
        .with("effect", rule.effect.into_str())
}

/// Returns a role as a bundle writes it.
pub(super) fn from_role(role: &RoleRecord) -> Content {
    Content::default().with("name", &role.name).with("includes", &role.includes)
}

/// Returns a type as a bundle writes it.
pub(super) fn from_type(declared: &TypeRecord) -> Content {
    // Texts and maps of them: there is nothing that could not be written.
    let properties = serde_json::to_value(&declared.properties).unwrap_or_default();
    let relations = serde_json::to_value(&declared.relations).unwrap_or_default();
    Content::default()
        .with("type", &declared.kind)
        .with_other_than("about", declared.about.as_deref().into(), &Value::Null)
        .with_other_than("properties", properties, &Value::Null)
        .with_other_than("relations", relations, &Value::Object(Map::new()))
}

/// Returns a policy as a bundle writes it. An expression is its `when`.
pub(super) fn from_policy(policy: &PolicyRecord) -> Content {
    let content = Content::default()
        .with("name", &policy.name)
        .with_other_than("description", policy.description.as_deref().into(), &Value::Null)
        .with("resource", policy.resource.to_string())
        .with("effect", policy.effect.into_str())
        .with("priority", policy.priority)
        .with_other_than("enabled", policy.enabled.into(), &true.into());
    match (policy.format, expression(policy)) {
        (Format::Expression, Some(when)) => content.with("when", when),
        (Format::Json, _) => content.with_text("rule_data", policy.rule_data.text()),
        (format, _) => content
            .with("format", format.into_str())
            .with_text("rule_data", policy.rule_data.text()),
    }
}

fn expression(policy: &PolicyRecord) -> Option<String> {
    let rule_data: Value = serde_json::from_str(policy.rule_data.text()).ok()?;
    Some(rule_data.get("expression")?.as_str()?.to_owned())
}

/// Returns a resolver as a bundle writes it: the values of its secrets are `null`.
pub(super) fn from_resolver(resolver: &StoredResolver) -> Content {
    let manifest = serde_json::to_value(&resolver.manifest).unwrap_or_default();
    let member = |name: &str| manifest.get(name).cloned().unwrap_or_default();
    let names = member("secrets").as_array().cloned().unwrap_or_default();
    let secrets = names.iter().filter_map(Value::as_str);
    let secrets: serde_json::Map<_, _> =
        secrets.map(|name| (name.to_owned(), Value::Null)).collect();
    let mut content = Content::default().with("namespace", member("namespace"));
    for name in ["description", "config"] {
        content = content.with_other_than(name, member(name), &Value::Null);
    }
    content = content.with_other_than("secrets", secrets.into(), &Value::Null);
    for name in ["endpoints", "allowed_hosts", "limits", "cache_ttl_ms"] {
        content = content.with_other_than(name, member(name), &Value::Null);
    }
    content
        .with_other_than("stale_if_error_ms", member("stale_if_error_ms"), &0.into())
        .with("sha256", &resolver.module.sha256)
        .with_other_than("enabled", resolver.enabled.into(), &true.into())
}

/// Returns a webhook as a bundle writes it, without its secret.
pub(super) fn from_webhook(webhook: &WebhookRecord) -> Content {
    Content::default()
        .with("url", &webhook.url)
        .with("events", &webhook.events)
        .with("secret", Value::Null)
}
