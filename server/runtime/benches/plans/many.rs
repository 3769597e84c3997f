//! 1,000 tenants with 1,000,000 rules and 100,000 policies, and a scan of all their resources.

use std::time::Instant;

use anyhow::{Result, ensure};
use portcullis_storage::testing::TestDatabase;
use portcullis_workloads::measure::median;
use portcullis_workloads::report::{Bar, Group};

use crate::records::{Records, resource, write};
use crate::service::{find, millis, start};

const TENANTS: usize = 1_000;
const RESOURCES: usize = 20;
const RECORDS: Records = Records { rules: 1_000, policies: 100, resources: RESOURCES };
const CACHE: u64 = 32 << 20;
const MIB: f64 = (1 << 20) as f64;

pub(crate) struct Measured {
    start: f64,
    /// The first check of each tenant.
    cold: Vec<f64>,
    /// Bytes of memory before any plan, and after the scan.
    before: f64,
    after: f64,
    plans: usize,
}

fn tenant(number: usize) -> String {
    format!("tenant-{number}")
}

pub(crate) async fn measure(database: &TestDatabase) -> Measured {
    let store = database.open().await;
    for number in 0..TENANTS {
        write(&store, &tenant(number), RECORDS).await;
    }
    store.close().await;
    let began = Instant::now();
    let store = database.open().await;
    let plans = start(&store, CACHE);
    let start = millis(began.elapsed());
    let before = resident();
    let mut cold = Vec::new();
    for number in 0..RESOURCES {
        for at in 0..TENANTS {
            let time = millis(find(&plans, &tenant(at), &resource(number)).await);
            if number == 0 {
                cold.push(time);
            }
        }
    }
    let counted = plans.measure();
    let plans = counted.iter().find(|(name, _)| *name == "plans").map_or(0, |(_, count)| *count);
    Measured { start, cold, before, after: resident(), plans }
}

/// Returns the bytes of memory that the process uses.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * 4_096.0)
}

pub(crate) fn report(group: &mut Group<'_>, measured: &Measured) -> Result<()> {
    ensure!(measured.plans > 0, "no plan is in memory");
    group.measurement("start", measured.start, " ms", Bar::AtMost(1_000.0));
    let cold = median(measured.cold.clone());
    group.measurement("first check of a tenant", cold, " ms", Bar::AtMost(10.0));
    let grown = (measured.after - measured.before) / MIB;
    let most = CACHE as f64 / MIB * 1.1 + 64.0;
    group.measurement("memory that a scan of all plans adds", grown, " MiB", Bar::AtMost(most));
    group.measurement("plans in memory after it", measured.plans as f64, "", Bar::Shown);
    Ok(())
}
