//! The delivery of events to webhooks.
//!
//! A transaction stores its events and their deliveries (`storage/src/delivery/events.rs`). The dispatcher claims delivery
//! queues that are due, and the delivery worker makes the attempts. A denied check has no transaction:
//! `denials.rs` stores its event.

mod attempt;
mod config;
mod delivery_worker;
mod denial_subscribers;
mod denials;
mod dispatcher;
mod metrics;
mod retention;
mod schedule;
mod service;
mod signature;

pub use config::{MAX_DENIALS_AT_ONCE, WebhookConfig};
pub use delivery_worker::{DeliveryWorker, TRANSACTIONS};
pub use dispatcher::Dispatcher;
pub use metrics::DeliveryMetrics;
pub use retention::prune_for_ever;
pub use schedule::Schedule;
pub use service::Webhooks;

#[cfg(test)]
mod tests;
