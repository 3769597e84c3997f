//! Events, which webhooks subscribe to (`docs/semantics.md`, section 7.3).

use portcullis_engine::{Check, MatchedRuleId};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::policy::PolicyRecord;
use super::resource::ResourceRecord;
use super::rule::RuleRecord;
use super::webhook::{EventType, WebhookRecord};
use super::{Authorship, Timestamp};

/// An event. It gets its id when it is stored.
#[derive(Clone, Debug)]
pub struct Event {
    pub kind: EventType,
    pub at: Timestamp,
    data: Value,
    /// The one webhook that gets the event, whatever its `events`; `None` means every subscribed webhook.
    only: Option<Uuid>,
}

/// A change of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleChange {
    Created,
    Updated,
    Deleted,
}

impl Event {
    fn new(kind: EventType, at: Timestamp, data: Value) -> Self {
        Self { kind, at, data, only: None }
    }

    /// A registration; a record that was never updated is new.
    pub fn resource(record: &ResourceRecord, by: &Authorship) -> Self {
        let registration = &record.registration;
        let data = json!({
            "resource_id": record.id,
            "name": registration.name,
            "service_name": registration.service_name,
            "default_roles": registration.default_roles,
            "created": record.updated_at.is_none(),
            "actor": by.actor,
        });
        Self::new(EventType::ResourceRegistered, by.at, data)
    }

    pub fn rule(change: RuleChange, rule: &RuleRecord, by: &Authorship) -> Self {
        let tuple = &rule.tuple;
        let data = json!({
            "change": change,
            "rule_id": rule.id,
            "sub": tuple.sub,
            "dom": tuple.dom,
            "obj": tuple.obj.to_string(),
            "act": tuple.act,
            "effect": rule.effect,
            "actor": by.actor,
        });
        Self::new(EventType::PolicyRbacChanged, by.at, data)
    }

    pub fn policy_created(policy: &PolicyRecord) -> Self {
        let data = json!({
            "policy_id": policy.id,
            "resource": policy.resource.to_string(),
            "effect": policy.effect,
            "created_by": policy.created_by,
        });
        Self::new(EventType::PolicyAbacCreated, policy.created_at, data)
    }

    pub fn policy_updated(old: &PolicyRecord, new: &PolicyRecord, by: &Authorship) -> Self {
        let fields = [
            ("name", old.name != new.name),
            ("description", old.description != new.description),
            ("effect", old.effect != new.effect),
            ("format", old.format != new.format),
            ("rule_data", old.rule_data != new.rule_data),
            ("priority", old.priority != new.priority),
            ("enabled", old.enabled != new.enabled),
        ];
        let changed: Vec<_> =
            fields.iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect();
        let data = json!({
            "policy_id": new.id,
            "resource": new.resource.to_string(),
            "effect": new.effect,
            "enabled": new.enabled,
            "priority": new.priority,
            "changed": changed,
            "updated_by": by.actor,
        });
        Self::new(EventType::PolicyAbacUpdated, by.at, data)
    }

    pub fn policy_deleted(policy: &PolicyRecord, by: &Authorship) -> Self {
        let data = json!({
            "policy_id": policy.id,
            "resource": policy.resource.to_string(),
            "deleted_by": by.actor,
        });
        Self::new(EventType::PolicyAbacDeleted, by.at, data)
    }

    /// A check that denied. Attributes are never part of it.
    pub fn denied(check: &Check<'_>, matched_rule_id: MatchedRuleId, reason: &str) -> Self {
        let data = json!({
            "subject": check.subject,
            "resource": check.resource,
            "action": check.action.text(),
            "domain": check.domain,
            "matched_rule_id": matched_rule_id,
            "reason": reason,
        });
        Self::new(EventType::AccessDenied, check.now.into(), data)
    }

    pub fn service_key(kind: EventType, id: Uuid, name: &str, by: &Authorship) -> Self {
        let data = json!({"key_id": id, "name": name, "actor": by.actor});
        Self::new(kind, by.at, data)
    }

    /// The event that tests whether a webhook can be reached.
    pub fn test(webhook: Uuid, at: Timestamp) -> Self {
        let data = json!({"webhook_id": webhook, "message": "this is a test"});
        Self { only: Some(webhook), ..Self::new(EventType::WebhookTest, at, data) }
    }

    /// Whether `webhook` gets the event.
    pub fn concerns(&self, webhook: &WebhookRecord) -> bool {
        match self.only {
            Some(only) => only == webhook.id,
            None => webhook.events.contains(&self.kind),
        }
    }

    /// Returns the body that every delivery of the event has.
    pub fn body(&self, id: Uuid, tenant: &str, at: Timestamp) -> Vec<u8> {
        let body = Body { id, kind: self.kind, tenant_id: tenant, timestamp: at, data: &self.data };
        // Strings, numbers and lists of them: there is nothing that could not be written.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

/// Returns the body of a denied check with `dropped` in its data: the denials that were dropped before it.
pub fn with_dropped(mut body: Vec<u8>, dropped: i64) -> Vec<u8> {
    // The data is the last member, and the data of a denied check is never empty.
    if dropped > 0 && body.ends_with(b"}}") {
        body.truncate(body.len() - 2);
        body.extend_from_slice(format!(r#","dropped":{dropped}}}}}"#).as_bytes());
    }
    body
}

/// The body of a delivery (`docs/rest.md`, section 7.1).
#[derive(Serialize)]
struct Body<'e> {
    id: Uuid,
    #[serde(rename = "type")]
    kind: EventType,
    tenant_id: &'e str,
    timestamp: Timestamp,
    data: &'e Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_denials_are_a_member_of_the_data() {
        let event = Event::new(EventType::AccessDenied, Timestamp::from_millis(0), json!({"a": 1}));
        let body = event.body(Uuid::nil(), "acme", event.at);
        assert_eq!(with_dropped(body.clone(), 0), body);
        let with: Value = serde_json::from_slice(&with_dropped(body, 12)).expect("JSON");
        assert_eq!(with["data"], json!({"a": 1, "dropped": 12}));
        assert_eq!(with["tenant_id"], "acme");
    }
}
