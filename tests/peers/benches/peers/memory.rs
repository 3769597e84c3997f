//! The costs of 100,000 rules: heap bytes, and CPU time to load.

use anyhow::Result;
use portcullis_workloads::measure::{kept, load_time};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::w2;

use crate::PEERS;
use crate::ours::{Plans, sources};

pub(crate) fn memory(group: &mut Group<'_>) -> Result<()> {
    let workload = w2(100_000);
    let sources = sources(&workload)?;
    show(group, "ours", || Ok(Plans::new(&sources)))?;
    for (name, load) in PEERS.into_iter().filter(|(name, _)| *name != "casbin cached hit") {
        show(group, name, || load(&workload))?;
    }
    Ok(())
}

fn show<T>(group: &mut Group<'_>, name: &str, mut load: impl FnMut() -> Result<T>) -> Result<()> {
    load()?;
    let mebibytes = kept(&mut load) as f64 / f64::from(1 << 20);
    group.measurement(format!("100,000 rules: {name}, live memory"), mebibytes, " MiB", Bar::Shown);
    let milliseconds = load_time(load).as_secs_f64() * 1e3;
    group.measurement(format!("100,000 rules: {name}, load"), milliseconds, " ms", Bar::Shown);
    Ok(())
}
