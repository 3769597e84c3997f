//! Schemas against what they describe: examples are accepted, and records have the members that they are
//! said to have.

use std::collections::BTreeSet;

use portcullis_engine::operator::{self, Operator, UnaryOperator};
use portcullis_engine::{Format, Invalid, Json, Policy, json};
use serde::Serialize;
use serde_json::Value;
use strum::VariantArray;
use utoipa::PartialSchema;
use uuid::Uuid;

use crate::egress_rules::EgressRules;
use crate::input::DeclaredBody;
use crate::policy::{
    ConditionExpression, ConditionTree, Matcher, NewPolicy, PolicyRecord, PolicyUpdate,
};
use crate::provider::{NewProvider, ProviderRecord};
use crate::resource::{Registration, ResourceRecord};
use crate::rule::{NewRule, RuleName, RuleOrigin, RuleRecord, RuleUpdate};
use crate::service_key::{NewServiceKey, ServiceKeyRecord};
use crate::tenant::{NewTenant, TenantRecord, TenantState};
use crate::webhook::{NewWebhook, WebhookRecord, WebhookUpdate};
use crate::{Authorship, Timestamp};

/// Reads the examples of `T`, at least one.
#[track_caller]
fn read_examples<T: PartialSchema, R>(read: impl Fn(&Json<'_>) -> Result<R, Invalid>) -> Vec<R> {
    let schema = serde_json::to_value(T::schema()).expect("a schema");
    let forms = schema["oneOf"].as_array().into_iter().flatten().chain([&schema]);
    let examples = forms.filter_map(|form| form.pointer("/examples/0"));
    let read = examples.map(|example| {
        let text = example.to_string();
        read(&json::parse(text.as_bytes()).expect("JSON")).expect("an example that is accepted")
    });
    let read: Vec<R> = read.collect();
    assert!(!read.is_empty(), "there is an example");
    read
}

/// Checks that `record` has the members of its schema, and so has the schema's example.
#[track_caller]
fn has_the_members_of_its_schema<T: PartialSchema + Serialize>(record: &T) {
    has_members_and_sometimes(record, &[]);
}

/// As [`has_the_members_of_its_schema`]. The members `optional` are in `record`, and not in the example.
fn has_members_and_sometimes<T: PartialSchema + Serialize>(record: &T, optional: &[&str]) {
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let schema = serde_json::to_value(T::schema()).expect("a schema");
    let described = names(&schema["properties"]);
    assert_eq!(names(&serde_json::to_value(record).expect("JSON")), described);
    let always: BTreeSet<String> =
        described.into_iter().filter(|name| !optional.contains(&name.as_str())).collect();
    assert_eq!(names(&schema["examples"][0]), always, "the example");
    let required = schema["required"].as_array().expect("required members");
    assert_eq!(required.len(), always.len(), "every other member is always there");
}

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) }
}

#[test]
fn rules_and_resources() {
    for rule in read_examples::<NewRule, _>(|json| NewRule::parse(json, "hospital")) {
        let record = rule.into_record(Uuid::nil(), RuleOrigin::Explicit, &by());
        has_the_members_of_its_schema::<RuleRecord>(&record);
    }
    read_examples::<RuleUpdate, _>(|json| RuleUpdate::parse(json, "hospital"));
    read_examples::<RuleName, _>(|json| RuleName::parse(json, "hospital"));
    for registration in read_examples::<Registration, _>(Registration::parse) {
        has_the_members_of_its_schema(&ResourceRecord {
            id: Uuid::nil(),
            tenant_id: "hospital".to_owned(),
            registration,
            created_at: by().at,
            updated_at: None,
            managed_by: None,
        });
    }
}

#[test]
fn policies() {
    for policy in read_examples::<NewPolicy, _>(NewPolicy::parse) {
        let record = policy.into_record(Uuid::nil(), "hospital", &by());
        has_the_members_of_its_schema::<PolicyRecord>(&record);
    }
    read_examples::<PolicyUpdate, _>(PolicyUpdate::parse);
    let condition =
        |format: Format, json: &Json<'_>| Policy::stored_condition(format, &json.to_string());
    read_examples::<ConditionTree, _>(|json| condition(Format::Json, json));
    read_examples::<Matcher, _>(|json| condition(Format::Casbin, json));
    read_examples::<ConditionExpression, _>(|json| condition(Format::Expression, json));
}

#[test]
fn keys_webhooks_tenants_and_providers() {
    let now = chrono::DateTime::UNIX_EPOCH;
    for key in read_examples::<NewServiceKey, _>(|json| NewServiceKey::parse(json, now)) {
        has_the_members_of_its_schema::<ServiceKeyRecord>(&key.issue(Uuid::nil(), &by()).0);
    }
    let rules = EgressRules::default();
    for webhook in read_examples::<NewWebhook, _>(|json| NewWebhook::parse(json, &rules)) {
        let (record, _) = webhook.into_record(Uuid::nil(), "hospital", &by());
        has_the_members_of_its_schema::<WebhookRecord>(&record);
    }
    read_examples::<WebhookUpdate, _>(|json| WebhookUpdate::parse(json, &rules));
    for tenant in read_examples::<NewTenant, _>(|json| NewTenant::parse(json)) {
        let record = tenant.into_record(Uuid::nil(), by().at);
        let state = Some(TenantState::Suspended);
        has_members_and_sometimes(&TenantRecord { state, ..record }, &["state"]);
    }
    for provider in read_examples::<NewProvider, _>(|json| NewProvider::parse(json, &rules)) {
        let (record, _) = provider.into_record(Uuid::nil(), "hospital", by().at);
        has_the_members_of_its_schema::<ProviderRecord>(&record);
    }
}

#[test]
fn every_operator_is_in_the_schema_of_conditions_once() {
    let schema = serde_json::to_value(ConditionTree::schema()).expect("a schema");
    let nodes = schema["oneOf"].as_array().expect("forms");
    let mut described: Vec<&str> = nodes
        .iter()
        .filter(|node| node["title"] != "Length of a list")
        .filter_map(|node| node.pointer("/properties/operator/enum")?.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut known: Vec<&str> = operator::names().collect();
    described.sort_unstable();
    known.sort_unstable();
    assert_eq!(described, known);
}

#[test]
fn the_description_of_expressions_has_every_operator() {
    let schema = serde_json::to_value(ConditionExpression::schema()).expect("a schema");
    let about = schema["description"].as_str().expect("a description");
    for symbol in Operator::VARIANTS.iter().map(|operator| operator.row().symbol) {
        assert!(about.contains(&format!("`{symbol}`")), "{symbol}");
    }
    for name in UnaryOperator::VARIANTS.iter().map(|operator| operator.into_str()) {
        let is_written = ["`", "(…)`"].iter().any(|end| about.contains(&format!("`{name}{end}")));
        assert!(is_written, "{name}");
    }
}
