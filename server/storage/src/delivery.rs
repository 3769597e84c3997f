//! Events, and their deliveries to webhooks.

pub mod attempts;
pub(crate) mod delivered_denials;
pub mod deliveries;
pub mod delivery_queues;
pub(crate) mod delivery_rows;
pub(crate) mod denial_queues;
pub(crate) mod denial_rows;
pub(crate) mod denial_segments;
pub mod events;
pub mod jobs;
pub(crate) mod settled_denials;
pub mod webhooks;
