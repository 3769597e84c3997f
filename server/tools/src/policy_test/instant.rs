//! The instant of cases that name none.

use chrono::{DateTime, Utc};

/// The instant of a case without `now`: 2026-01-15T10:00:00Z, a Thursday morning. It is fixed, so that a case that
/// passes today passes tomorrow.
pub const DEFAULT_NOW: DateTime<Utc> = match DateTime::from_timestamp(1_768_471_200, 0) {
    Some(instant) => instant,
    None => DateTime::UNIX_EPOCH,
};
