//! The state of a running service: the wired parts, plans and entities in memory, changes of other processes, turns,
//! metrics, and the commit of every change.

pub mod app;
pub mod background;
pub mod change_reader;
mod changes;
mod check_metrics;
pub mod edge_metrics;
pub mod entity_tables;
pub mod erasure;
pub mod error;
pub mod filter_refusal;
pub mod freshness;
pub mod gates;
mod histories;
mod label;
pub mod load_sources;
pub mod machine;
pub mod metrics;
pub mod min_revisions;
mod name_metrics;
pub mod piece_writer;
pub mod plans;
mod provider_uses;
pub mod quota_metrics;
pub mod record_scans;
pub mod refusals;
pub mod replays;
pub mod searches;
pub mod shadow_counts;
pub mod shadow_metrics;
mod shadow_rounds;
pub mod shadows;
mod tenant_facts;
mod tenant_reads;
pub mod turns;
pub mod write_refusal;
