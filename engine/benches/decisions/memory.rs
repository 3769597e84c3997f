//! Bar 7: the memory and load time of 100,000 rules.

use anyhow::Result;
use portcullis_workloads::measure::{kept, load_time};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::w2;

use crate::ours::{Plans, sources};

pub(crate) fn memory(group: &mut Group<'_>) -> Result<()> {
    let sources = sources(&w2(100_000))?;
    let bytes = kept(|| Plans::new(&sources));
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    group.measurement("100,000 rules: live memory", mebibytes, " MiB", Bar::AtMost(20.0));
    let milliseconds = load_time(|| Plans::new(&sources)).as_secs_f64() * 1e3;
    group.measurement("100,000 rules: load", milliseconds, " ms", Bar::AtMost(40.0));
    Ok(())
}
