//! Token buckets, at given instants.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const START: Moment = Moment(1_700_000_000_000_000_000);

impl std::ops::Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + u64::try_from(duration.as_nanos()).unwrap())
    }
}

fn take(bucket: &Bucket, rate: &Rate, now: Moment) -> Result<BucketLevel, BucketLevel> {
    bucket.take(rate, now, 1)
}

fn seconds(seconds: u64) -> Moment {
    START + Duration::from_secs(seconds)
}

#[test]
fn rates_have_a_number_and_a_unit() {
    for (text, expected) in [
        ("60/m", Some((60, 60))),
        ("1/s", Some((1, 1))),
        ("10000000/h", Some((10_000_000, 3_600))),
        ("10000001/h", None),
        ("0/s", None),
        ("-1/s", None),
        ("60/d", None),
        ("60", None),
        ("", None),
    ] {
        let read = Rate::parse(text).map(|rate| (rate.quota(), rate.window_seconds()));
        assert_eq!(read, expected, "{text}");
    }
}

#[test]
fn a_bucket_gives_its_quota_and_then_one_per_step() {
    let (rate, bucket) = (Rate::new(3, 60), Bucket::default());
    let remaining: Vec<_> =
        (0..3).map(|_| take(&bucket, &rate, START).unwrap().remaining).collect();
    assert_eq!(remaining, [2, 1, 0]);
    let refused = take(&bucket, &rate, START).unwrap_err();
    let wait = |seconds| Duration::from_secs(seconds);
    let expected = BucketLevel { remaining: 0, full_in: wait(60), next_in: wait(20) };
    assert_eq!(refused, expected);
    assert!(take(&bucket, &rate, seconds(19)).is_err());
    assert_eq!(take(&bucket, &rate, seconds(20)).unwrap().remaining, 0);
    assert!(take(&bucket, &rate, seconds(20)).is_err());
    // A refusal costs nothing, and a full bucket does not grow.
    assert_eq!(take(&bucket, &rate, seconds(1_000)).unwrap().remaining, 2);
    assert_eq!(bucket.level(&rate, seconds(1_000)).remaining, 2);
}

#[test]
fn a_clock_that_is_set_back_locks_nobody_out() {
    let (rate, bucket) = (Rate::new(2, 60), Bucket::default());
    assert!(take(&bucket, &rate, seconds(1_000_000)).is_ok());
    assert!(take(&bucket, &rate, START).is_err(), "the bucket counts as empty");
    assert!(take(&bucket, &rate, seconds(30)).is_ok(), "and fills in one window");
}

#[test]
fn exactly_the_quota_passes_on_many_threads() {
    let (rate, bucket, passed) = (Rate::new(1_000, 3_600), Bucket::default(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..500 {
                    if take(&bucket, &rate, START).is_ok() {
                        passed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(passed.into_inner(), 1_000);
}

#[test]
fn spending_empties_a_bucket_at_most() {
    let (rate, bucket) = (Rate::new(6, 60), Bucket::default());
    let remaining = |now| bucket.level(&rate, now).remaining;
    bucket.spend(&rate, 2, START);
    assert_eq!(remaining(START), 4);
    bucket.spend(&rate, 0, START);
    assert_eq!(remaining(START), 4);
    bucket.spend(&rate, u32::MAX, START);
    assert!(take(&bucket, &rate, START).is_err());
    // No debt is left when the window is over.
    assert_eq!(remaining(seconds(30)), 3);
    assert_eq!(remaining(seconds(60)), 6);
}
