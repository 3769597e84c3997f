//! Plans of a service that just started: loaded by a check each, and made by the pass that the first check begins.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use portcullis_storage::testing::TestDatabase;
use portcullis_workloads::report::{Bar, Group};

use crate::records::{Records, resource, write};
use crate::service::{find, start};

/// The rules of the tenants, with ten on each resource.
const RULES: [usize; 2] = [1_000, 500_000];
/// The plans of each start that a check loads.
const LOADED: usize = 99;
/// The clock has ticks of 10 ms.
const STARTS: usize = 20;
const CACHE: u64 = 512 << 20;

/// Microseconds of CPU time of the process for each plan.
pub(crate) struct Measured {
    rules: usize,
    loaded: f64,
    made: f64,
}

pub(crate) async fn measure(database: &TestDatabase) -> Result<Vec<Measured>> {
    let store = database.open().await;
    let mut measured = Vec::new();
    for rules in RULES {
        let (tenant, resources) = (format!("of-{rules}"), rules / 10);
        write(&store, &tenant, Records { rules, policies: 0, resources }).await;
        let (mut loaded, mut made) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..STARTS {
            let plans = start(&store, CACHE);
            find(&plans, &tenant, &resource(LOADED)).await;
            let began = cpu_time()?;
            for number in 0..LOADED {
                find(&plans, &tenant, &resource(number)).await;
            }
            loaded += cpu_time()? - began;
            let plans = start(&store, CACHE);
            find(&plans, &tenant, &resource(0)).await;
            let began = cpu_time()?;
            plans.warm().await;
            made += cpu_time()? - began;
            let counted = plans.measure();
            // Those of the resources, and that of `*`.
            ensure!(counted.contains(&("plans", resources + 1)), "{counted:?}");
        }
        let loaded = micros(loaded) / (STARTS * LOADED) as f64;
        let made = micros(made) / (STARTS * (resources - 1)) as f64;
        measured.push(Measured { rules, loaded, made });
    }
    Ok(measured)
}

/// Returns the CPU time of all threads of the process, as `/proc/self/stat` has it, in hundredths of a second.
fn cpu_time() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("the process has a name")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn report(group: &mut Group<'_>, name: &str, measured: &[Measured]) -> Result<()> {
    for Measured { rules, loaded, made } in measured {
        let what = format!("{name}, {rules} rules: a plan that a check loads");
        group.measurement(what, *loaded, " µs", Bar::AtMost(300.0));
        let what = format!("{name}, {rules} rules: a plan of a pass");
        group.measurement(what, *made, " µs", Bar::Shown);
    }
    Ok(())
}
