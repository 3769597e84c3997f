//! 100,000 tenants: start, memory, CPU while nobody asks, and the first check of a tenant.

use std::time::{Duration, Instant};

use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::tenants::TenantSizes;

use crate::place::{Place, check, median, memory, milliseconds};
use crate::support::{Provider, Request, costs};

const SIZES: TenantSizes = TenantSizes::MANY;
/// The time after a start in which its work ends.
const SETTLING: Duration = Duration::from_secs(5);
/// The time for which the idle server is watched.
const IDLE: Duration = Duration::from_secs(30);
/// The tenants whose first check is timed.
const COLD: usize = 500;
/// Most CPU of the idle server, in percent of a core.
const MAX_CPU: f64 = 1.0;
/// Most memory of the idle server, in MiB.
const MAX_MEMORY: f64 = 300.0;
/// Most time of a first check beside the fetch of the key set, in milliseconds.
const MAX_FIRST: f64 = 10.0;

pub(crate) fn measure(group: &mut Group<'_>, place: &Place) {
    let (empty, server) = place.start(&place.settings, 1);
    assert!(server.stop().success());
    place.fill(SIZES);
    let (start, server) = place.start(&place.settings, 1);
    group.measurement("start on an empty database", empty, " ms", Bar::Shown);
    group.measurement("start", start, " ms", Bar::Shown);
    std::thread::sleep(SETTLING);
    let before = costs::cpu_time(server.process.id());
    std::thread::sleep(IDLE);
    let used = costs::cpu_time(server.process.id()).saturating_sub(before);
    let share = 100.0 * used.as_secs_f64() / IDLE.as_secs_f64();
    group.measurement("idle CPU", share, " % of a core", Bar::AtMost(MAX_CPU));
    let idle = memory(&server, "VmRSS:");
    group.measurement("memory after the start", idle, " MiB", Bar::AtMost(MAX_MEMORY));
    let fetch = median((0..COLD).map(|_| fetch(&place.provider)).collect());
    // The tokens are made before the clock runs.
    let tokens: Vec<_> = (1..=COLD)
        .map(|number| place.token(number * (SIZES.tenants / COLD), &["role-0"]))
        .collect();
    let checks = || tokens.iter().map(|token| check(&server, token, 0)).collect::<Vec<_>>();
    let mut first = checks();
    first.sort_by(f64::total_cmp);
    group.measurement("fetch of a key set", fetch, " ms", Bar::Shown);
    let bar = Bar::AtMost(MAX_FIRST + fetch);
    group.measurement("first check of a tenant, median", first[COLD / 2], " ms", bar);
    group.measurement("first check of a tenant, p99", first[COLD * 99 / 100], " ms", Bar::Shown);
    group.measurement("second check of a tenant, median", median(checks()), " ms", Bar::Shown);
    let used = memory(&server, "VmRSS:");
    let what = format!("memory after checks of {COLD} tenants");
    group.measurement(what, used, " MiB", Bar::AtMost(MAX_MEMORY));
    let each = (used - idle) * 1024.0 / COLD as f64;
    group.measurement("memory of a tenant in use", each, " KiB", Bar::Shown);
    assert!(server.stop().success());
}

/// Fetches a key set as the server does, and returns the milliseconds.
fn fetch(provider: &Provider) -> f64 {
    let address = provider.issuer();
    let host = address.trim_start_matches("http://").trim_end_matches("/realm");
    let began = Instant::now();
    let reply = Request::new("GET /realms/t1/keys").send(host.parse().expect("an address"));
    assert_eq!(reply.status, 200);
    milliseconds(began.elapsed())
}
