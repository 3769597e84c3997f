//! Rates of tenants, credentials and addresses, at one instant.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn limits(checks: ScopeRates) -> RateLimits {
    let settings = RateSettings { checks, ..RateSettings::default() };
    RateLimits::new(settings)
}

fn now() -> Moment {
    Moment::from_time(chrono::DateTime::UNIX_EPOCH)
}

/// Counts one request.
fn count(
    limits: &RateLimits,
    kind: RequestKind,
    of_caller: (&str, &str),
    address: Option<IpAddr>,
) -> Result<RateLevels, Box<RateRefusal>> {
    limits.count(kind, of_caller, address, now(), 1)
}

/// Returns how many of `attempts` checks of `actor` pass.
fn passed(limits: &RateLimits, tenant: &str, actor: &str, attempts: usize) -> usize {
    let check = |_: &usize| count(limits, RequestKind::Check, (tenant, actor), None).is_ok();
    (0..attempts).filter(check).count()
}

#[test]
fn each_scope_has_its_own_rate() {
    let limits = limits(ScopeRates {
        tenant: Some(Rate::new(10, 60)),
        credential: Some(Rate::new(4, 60)),
        address: None,
    });
    assert_eq!(passed(&limits, "acme", "alice", 100), 4);
    assert_eq!(passed(&limits, "acme", "bob", 100), 4);
    assert_eq!(passed(&limits, "acme", "carol", 100), 2, "the tenant has no more");
    assert_eq!(passed(&limits, "globex", "alice", 100), 4);
}

#[test]
fn a_refusal_names_the_rate() {
    let limits = limits(ScopeRates {
        tenant: Some(Rate::new(10, 60)),
        credential: Some(Rate::new(1, 60)),
        address: None,
    });
    let of_alice = || count(&limits, RequestKind::Check, ("acme", "alice"), None);
    let levels = of_alice().unwrap();
    let names: Vec<_> = levels.iter().map(|level| (level.name, level.level.remaining)).collect();
    assert_eq!(names, [("credential-checks", 0), ("tenant-checks", 9)]);
    let refusal = of_alice().unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::CredentialRate);
    assert_eq!((refusal.refused.name, refusal.levels.len()), ("credential-checks", 1));
}

#[test]
fn kinds_and_addresses_are_counted_apart() {
    let limits = limits(ScopeRates { address: Some(Rate::new(1, 60)), ..Default::default() });
    let passes = |kind, address: &str| {
        let address = Some(address.parse().unwrap());
        count(&limits, kind, ("acme", "alice"), address).is_ok()
    };
    assert!(passes(RequestKind::Check, "2001:db8::1"));
    assert!(!passes(RequestKind::Check, "2001:db8::2"), "an IPv6 /64 is one address");
    assert!(passes(RequestKind::Check, "2001:db8:0:1::1"));
    assert!(passes(RequestKind::Write, "2001:db8::1"));
}

#[test]
fn exactly_the_quota_of_a_tenant_passes_on_many_threads() {
    let limits = limits(ScopeRates { tenant: Some(Rate::new(500, 60)), ..Default::default() });
    let all = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (limits, all) = (&limits, &all);
            scope.spawn(move || {
                let passed = passed(limits, "acme", &format!("subject-{thread}"), 200);
                all.fetch_add(passed, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(all.into_inner(), 500);
}

#[test]
fn a_flood_of_subjects_takes_bounded_memory() {
    let limits = limits(ScopeRates { credential: Some(Rate::new(5, 60)), ..Default::default() });
    for number in 0..200_000 {
        assert_eq!(passed(&limits, "acme", &format!("subject-{number}"), 1), 1);
    }
    let entries = limits.entries();
    assert!(entries.iter().all(|(_, entries)| *entries <= MAX_COUNTED), "{entries:?}");
}
