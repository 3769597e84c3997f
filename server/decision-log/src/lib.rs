//! The record of decisions: each decision with everything that it depended on.
//!
//! A check hands a borrowed [`RecordedDecision`] to [`DecisionLog::append`], which writes its JSON text into a buffer in memory,
//! without what the tenant's settings leave out, and with hashes for what they hash. One thread takes the records of all checks,
//! and appends them to the write-ahead file. A [`Archive`] keeps finished files as Parquet, and its manifest in the database.

#![forbid(unsafe_code)]

mod answer;
mod at_rest;
mod batch;
mod bounds;
mod buffer;
mod chunk;
mod decision;
mod erase;
mod erasures;
mod feed;
mod frame;
mod group_shares;
mod left_out;
mod log;
mod lost;
mod members;
mod metrics;
mod minimisation;
mod others;
mod parity;
mod permissions;
mod query;
mod question;
mod reading;
mod recorder;
mod segment;
mod segment_texts;
mod segments;
mod shared;
mod shares;
mod stats;
mod visit;
mod wanted;
mod writer;

pub use at_rest::{
    Archive, ArchiveError, BucketPlace, Erased, ObjectError, RecordFault, RecordPlace,
    Verification, sign_manifest_anew,
};
pub use batch::Pending;
pub use decision::{Nested, RecordedCaller, RecordedDecision, RecordedShadow};
pub use feed::{DecisionFeed, FeedItem, FeedRefused};
pub use group_shares::RegisteredResources;
pub use log::{DecisionLog, LogConfig};
pub use lost::Lost;
pub use members::{RecordMembers, RecordTexts};
pub use metrics::LogMetrics;
pub use minimisation::{HashKey, Minimisation};
pub use query::DecisionPage;
pub use reading::{DecisionOrder, DecisionSpan, QueryError, RawRecord, ReadLimit, Visited};
pub use recorder::{Recorded, Recorder, RecordingTerms};
pub use segments::LogOpenError;
pub use shared::BatchTexts;

#[cfg(test)]
mod tests;
