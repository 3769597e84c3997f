//! Token buckets. A bucket is one atomic number, by the generic cell rate algorithm (ITU-T I.371): the instant at which
//! the bucket is full again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};

/// An instant, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// Returns `time`, or the beginning of 1970 for a time that 64 bits cannot hold.
    pub fn from_time(time: DateTime<Utc>) -> Self {
        Self(time.timestamp_nanos_opt().and_then(|nanos| nanos.try_into().ok()).unwrap_or(0))
    }

    /// Returns the time since `earlier`, or zero if the clock was set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Most requests of a rate per window. Beyond it a step would be so few nanoseconds that the rate is not exact.
const MAX_QUOTA: u32 = 10_000_000;

/// A rate: a number of requests, all of which may come at once, and the window in which as many become free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    quota: u32,
    window_seconds: u32,
    /// Nanoseconds after which one more request becomes free.
    step: u64,
}

impl Rate {
    /// Returns a rate of `quota` requests in `window_seconds`. A quota of 0 is 1, and one above 10,000,000 is that; the
    /// window is at least one second.
    pub const fn new(quota: u32, window_seconds: u32) -> Self {
        let quota = if quota == 0 {
            1
        } else if quota > MAX_QUOTA {
            MAX_QUOTA
        } else {
            quota
        };
        let window_seconds = if window_seconds == 0 { 1 } else { window_seconds };
        Self { quota, window_seconds, step: window_seconds as u64 * 1_000_000_000 / quota as u64 }
    }

    /// Parses `<number>/<unit>`, such as `600/m`. The number is 1 to 10,000,000, the unit `s`, `m` or `h`.
    pub fn parse(text: &str) -> Option<Self> {
        let (quota, unit) = text.split_once('/')?;
        let quota = quota.parse().ok().filter(|quota| (1..=MAX_QUOTA).contains(quota))?;
        let window_seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            _ => return None,
        };
        Some(Self::new(quota, window_seconds))
    }

    /// Returns the number of requests that may come at once.
    pub fn quota(&self) -> u32 {
        self.quota
    }

    /// Returns the window, in seconds.
    pub fn window_seconds(&self) -> u32 {
        self.window_seconds
    }

    /// Returns the nanoseconds in which an empty bucket becomes full.
    fn span(&self) -> u64 {
        self.step * u64::from(self.quota)
    }
}

/// The level of a bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLevel {
    /// The requests that may still come at once.
    pub remaining: u32,
    /// The time until the bucket is full again.
    pub full_in: Duration,
    /// The time until one request may come. Zero if one may come now.
    pub next_in: Duration,
}

/// A token bucket. A new one is full.
#[derive(Debug, Default)]
pub struct Bucket(AtomicU64);

impl Bucket {
    /// Takes all of `requests` of `rate` at `now`, or none. Exactly as many succeed as the rate allows, on however many
    /// threads; more than the quota at once never do.
    ///
    /// # Errors
    /// The bucket has fewer. `next_in` is the time until it has them.
    pub fn take(
        &self,
        rate: &Rate,
        now: Moment,
        requests: u32,
    ) -> Result<BucketLevel, BucketLevel> {
        let cost = rate.step.saturating_mul(u64::from(requests));
        let mut stored = self.0.load(Ordering::Relaxed);
        loop {
            let full_at = full_at(stored, rate, now);
            let after = full_at.saturating_add(cost);
            if after > now.0 + rate.span() {
                self.forget_the_future(stored, full_at);
                let level = level(full_at, rate, now);
                let free = rate.span() - (full_at - now.0);
                let next_in = Duration::from_nanos(cost.saturating_sub(free));
                return Err(BucketLevel { next_in, ..level });
            }
            // The number guards no other memory, so that no stronger order is needed.
            match self.0.compare_exchange_weak(stored, after, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(level(after, rate, now)),
                Err(other) => stored = other,
            }
        }
    }

    /// Takes `count` requests of `rate` at `now`, as far as the bucket has them.
    pub fn spend(&self, rate: &Rate, count: u32, now: Moment) {
        let spent = u64::from(count).saturating_mul(rate.step);
        // An update that always has a value does not fail.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |stored| {
            let after = full_at(stored, rate, now).saturating_add(spent);
            Some(after.min(now.0.saturating_add(rate.span())))
        });
    }

    /// Stores `full_at` if `stored` is later, since the clock was set back. Otherwise the bucket would stay empty until the
    /// clock reaches the stored instant.
    fn forget_the_future(&self, stored: u64, full_at: u64) {
        if stored > full_at {
            let _ = self.0.compare_exchange(stored, full_at, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Returns the level at `now`, and takes nothing.
    pub fn level(&self, rate: &Rate, now: Moment) -> BucketLevel {
        level(full_at(self.0.load(Ordering::Relaxed), rate, now), rate, now)
    }
}

/// Returns the instant at which a bucket is full. No bucket takes longer than a span from now: a later instant was stored
/// before the clock was set back.
fn full_at(stored: u64, rate: &Rate, now: Moment) -> u64 {
    stored.clamp(now.0, now.0.saturating_add(rate.span()))
}

fn level(full_at: u64, rate: &Rate, now: Moment) -> BucketLevel {
    // `full_at` is neither before `now` nor more than a span after it.
    let missing = full_at - now.0;
    let free = rate.span() - missing;
    BucketLevel {
        remaining: (free / rate.step).try_into().unwrap_or(u32::MAX),
        full_in: Duration::from_nanos(missing),
        next_in: Duration::from_nanos(rate.step.saturating_sub(free)),
    }
}

#[cfg(test)]
mod tests;
