//! Policies as the store keeps them.

use portcullis_engine::{Effect, Format, ResourcePattern};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::{format_schema, rule_data_schema};
use super::rule_data::RuleData;
use crate::authorship::managed_record;
use crate::schema;

managed_record! {
    /// An ABAC policy as the store keeps it and the API shows it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
    #[schema(examples(json!({
        "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b61",
        "tenant_id": "hospital",
        "name": "visitors-by-day",
        "description": "No visitors at night",
        "resource": "visit:register",
        "effect": "deny",
        "format": "json",
        "rule_data": {"type": "CONDITION", "attribute": "user.shift", "operator": "eq", "value": "night"},
        "priority": 10,
        "enabled": true,
        "created_by": "ines-admin",
        "created_at": "2026-05-16T09:30:00.000Z",
        "updated_by": null,
        "updated_at": null,
        "managed_by": null,
    })))]
    pub struct PolicyRecord {
        pub id: Uuid,
        pub tenant_id: String,
        pub name: String,
        #[schema(required)]
        pub description: Option<String>,
        #[schema(schema_with = schema::resource_pattern)]
        pub resource: ResourcePattern,
        #[schema(schema_with = schema::effect)]
        pub effect: Effect,
        #[schema(schema_with = format_schema)]
        pub format: Format,
        #[schema(schema_with = rule_data_schema)]
        pub rule_data: RuleData,
        pub priority: i32,
        pub enabled: bool,
    }
}

impl PolicyRecord {
    /// Returns whether the two records decide and read the same; authors, times and owners may differ.
    pub fn has_content_of(&self, other: &Self) -> bool {
        self.effect == other.effect
            && self.format == other.format
            && self.priority == other.priority
            && self.enabled == other.enabled
            && self.name == other.name
            && self.description == other.description
            && self.resource == other.resource
            && self.rule_data == other.rule_data
    }
}
