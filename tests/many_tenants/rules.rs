//! 1,000 tenants with 1,000,000 rules and 100,000 policies: start, cold checks, and memory while every resource is asked
//! about.

use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::tenants::TenantSizes;
use serde_json::json;

use crate::place::{Place, check, median, memory, send};
use crate::support::{Request, Server};

const SIZES: TenantSizes = TenantSizes::LARGE;
/// Starts whose median counts.
const STARTS: usize = 5;
/// Most that a start takes longer than one on an empty database, in milliseconds.
const MAX_START: f64 = 25.0;
/// Most time of a cold check, in milliseconds.
const MAX_COLD: f64 = 10.0;
/// `PLAN_CACHE_BYTES` in MiB. All plans together take more, so that the scan pushes plans out.
const CACHE: f64 = 128.0;
/// Most memory beside the plans, in MiB.
const BESIDE: f64 = 64.0;
/// The scans of everything. The first fills the cache, the second empties and fills it.
const SCANS: usize = 2;

pub(crate) fn measure(group: &mut Group<'_>, place: &Place) {
    let settings = place.settings.clone().set("PLAN_CACHE_BYTES", format!("{CACHE}MiB"));
    let (empty, server) = place.start(&settings, STARTS);
    assert!(server.stop().success());
    place.fill(SIZES);
    let (full, server) = place.start(&settings, STARTS);
    group.measurement("start on an empty database", empty, " ms", Bar::Shown);
    group.measurement("start", full, " ms", Bar::Shown);
    group.measurement("added to the start", full - empty, " ms", Bar::AtMost(MAX_START));
    let tokens: Vec<_> =
        (1..=SIZES.tenants).map(|tenant| place.token(tenant, &["role-3"])).collect();
    // The first check of a tenant also fetches its key set.
    for token in &tokens {
        check(&server, token, 0);
    }
    let cold: Vec<_> = tokens.iter().map(|token| check(&server, token, 1)).collect();
    group.measurement("cold check, median", median(cold), " ms", Bar::AtMost(MAX_COLD));
    let (before, plans_before) = (memory(&server, "VmRSS:"), plan_bytes(&server));
    for _ in 0..SCANS {
        tokens.iter().for_each(|token| ask_about_everything(&server, token));
    }
    let (after, plans) = (memory(&server, "VmRSS:"), plan_bytes(&server));
    group.measurement("plans in memory, as they are counted", plans, " MiB", Bar::AtMost(CACHE));
    let most = memory(&server, "VmHWM:");
    group.measurement("most memory", most, " MiB", Bar::AtMost(CACHE + BESIDE));
    let growth = (after - before) / (plans - plans_before);
    group.measurement("growth of memory / of counted plans", growth, "", Bar::AtMost(1.1));
    assert!(server.stop().success());
}

/// Checks every resource of the tenant of `token`.
fn ask_about_everything(server: &Server, token: &str) {
    let items: Vec<_> = (0..SIZES.resources)
        .map(|resource| json!({"resource": format!("object-{resource}:read")}))
        .collect();
    let body = json!({"subject": "ann", "action": "read", "checks": items});
    let (reply, _) = send(server, "POST /api/v1/checks?fields=decision", token, &body);
    let allowed = reply.json()["allowed"].as_array().map(Vec::len);
    assert_eq!(allowed, Some(SIZES.resources), "{}", reply.text);
}

/// Returns the memory of the plans as the cache counts it, in MiB.
fn plan_bytes(server: &Server) -> f64 {
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    let of = |line: &str| line.strip_prefix("portcullis_plan_cache_bytes ")?.parse::<f64>().ok();
    metrics.lines().find_map(of).expect("the metric") / f64::from(1 << 20)
}
