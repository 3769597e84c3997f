//! Attempts to deliver an event to a webhook (`docs/semantics.md`, section 7.9).

use serde::Serialize;
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;
use uuid::Uuid;

use super::Timestamp;

/// The state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DeliveryState {
    /// There will be another attempt.
    Retrying,
    /// The receiver answered with 2xx.
    Delivered,
    /// It failed too often.
    Dead,
}

/// An attempt as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70",
    "delivery_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b71",
    "event_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b72",
    "event_type": "access.denied",
    "retry_count": 0,
    "http_status": 503,
    "response_body": "try again later",
    "error": "the receiver answered with 503",
    "duration_ms": 12,
    "state": "retrying",
    "attempted_at": "2026-05-16T09:30:00.000Z",
    "next_attempt_at": "2026-05-16T09:30:10.421Z",
})))]
pub struct AttemptRecord {
    pub id: Uuid,
    pub delivery_id: Uuid,
    pub event_id: Uuid,
    pub event_type: String,
    /// 0 for the first attempt, and for the first one of a redelivery.
    pub retry_count: i64,
    /// Null without an answer.
    #[schema(required)]
    pub http_status: Option<i64>,
    /// The first 4 KiB of the answer.
    #[schema(required)]
    pub response_body: Option<String>,
    #[schema(required)]
    pub error: Option<String>,
    pub duration_ms: i64,
    #[schema(inline)]
    pub state: DeliveryState,
    pub attempted_at: Timestamp,
    #[schema(required)]
    pub next_attempt_at: Option<Timestamp>,
}
