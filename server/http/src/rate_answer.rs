//! The parts of an answer that are about rates (`docs/semantics.md`, section 8.12). The header fields come from
//! `draft-ietf-httpapi-ratelimit-headers-10`: `RateLimit-Policy` names each limit that a request counts for, `RateLimit`
//! says what is left of it.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue};
use portcullis_limits::{RateLevel, RateLevels, RateRefusal, RefusalReason};
use portcullis_runtime::app::App;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LEFT: HeaderName = HeaderName::from_static("ratelimit");

/// The levels of the rates that a request counts for.
#[derive(Clone, Default)]
pub(crate) struct RateReport(Arc<OnceLock<RateLevels>>);

impl RateReport {
    /// Returns the report of a request that arrives, if there are rates.
    pub(crate) fn begin(app: &App) -> Option<Self> {
        app.limits.rates.are_limited().then(Self::default)
    }

    /// Reports the levels. The first ones stay.
    pub(crate) fn set(&self, levels: RateLevels) {
        let _ = self.0.set(levels);
    }

    /// Adds the levels to the headers of the answer.
    pub(crate) fn end(&self, headers: &mut HeaderMap) {
        if let Some(levels) = self.0.get() {
            add(levels, headers);
        }
    }
}

/// Adds both fields to `headers`. Adds nothing if there is no limit.
pub(crate) fn add(levels: &[RateLevel], headers: &mut HeaderMap) {
    let (mut policy, mut left) = (String::new(), String::new());
    for RateLevel { name, rate, level } in levels {
        let separator = if policy.is_empty() { "" } else { ", " };
        let (quota, window) = (rate.quota(), rate.window_seconds());
        let (remaining, full_in) = (level.remaining, whole_seconds(level.full_in));
        // Writing to a string does not fail.
        let _ = write!(policy, r#"{separator}"{name}";q={quota};w={window}"#);
        let _ = write!(left, r#"{separator}"{name}";r={remaining};t={full_in}"#);
    }
    for (name, text) in [(POLICY, policy), (LEFT, left)] {
        if let Some(value) = HeaderValue::from_str(&text).ok().filter(|value| !value.is_empty()) {
            headers.insert(name, value);
        }
    }
}

/// Adds the fields of a 429 to `headers`: the fields of [`add`], and `Retry-After`.
pub(crate) fn add_refusal(refusal: &RateRefusal, headers: &mut HeaderMap) {
    // A wait of 0 s would ask for the next request at once.
    let wait = whole_seconds(refusal.refused.level.next_in).max(1);
    headers.insert(RETRY_AFTER, HeaderValue::from(wait));
    add(&refusal.levels, headers);
}

/// Returns the text of a 429 for the client.
pub(crate) fn message(refusal: &RateRefusal) -> String {
    if refusal.reason == RefusalReason::Failures {
        return "too many credentials from this address were refused; try again later".to_owned();
    }
    let (rate, name) = (refusal.refused.rate, refusal.refused.name);
    let (quota, window) = (rate.quota(), rate.window_seconds());
    format!("the limit `{name}` allows {quota} requests in {window} s; try again later")
}

/// Returns the seconds of `time`, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use portcullis_limits::{BucketLevel, Rate};

    use super::*;

    fn level(name: &'static str, rate: &str, remaining: u32, full_in: u64) -> RateLevel {
        let full_in = Duration::from_millis(full_in);
        let level = BucketLevel { remaining, full_in, next_in: Duration::ZERO };
        RateLevel { name, rate: Rate::parse(rate).unwrap(), level }
    }

    #[test]
    fn each_limit_is_an_item_of_both_fields() {
        let mut headers = HeaderMap::new();
        add(&[], &mut headers);
        assert!(headers.is_empty());
        let levels = [level("tenant-checks", "600/m", 0, 59_001), level("x", "5/s", 4, 200)];
        add(&levels, &mut headers);
        assert_eq!(headers["ratelimit-policy"], r#""tenant-checks";q=600;w=60, "x";q=5;w=1"#);
        assert_eq!(headers["ratelimit"], r#""tenant-checks";r=0;t=60, "x";r=4;t=1"#);
    }
}
