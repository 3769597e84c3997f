//! Bar 10: a call in a fresh instance.

use std::hint::black_box;

use anyhow::{Result, ensure};
use portcullis_resolver_host::Value;
use portcullis_workloads::measure::{Variant, allocations, compare};
use portcullis_workloads::report::{Bar, Group};

use crate::environment::{Bench, request};

pub(crate) fn call(group: &mut Group<'_>) -> Result<()> {
    let bench = Bench::new(None)?;
    let resolver = bench.load(portcullis_test_guests::component("directory")?)?;
    let call = || bench.runtime.block_on(bench.host.resolve(&resolver, request()));
    let answer = call().result?;
    let expected = Some(Value::Text("sales".to_owned()));
    ensure!(answer.len() == 1 && answer[0].value == expected, "a wrong answer: {answer:?}");

    let task = || bench.runtime.block_on(bench.runtime.spawn(async { black_box(request()) }));
    let samples = compare(vec![
        Variant::new("a task that does nothing", 1, |_| task().is_ok()),
        Variant::new("fresh instance and call", 1, |_| call().result.is_ok()),
    ]);
    group.times("one call", &samples);
    let microseconds = samples[1].ns() / 1e3;
    group.measurement("fresh instance and call", microseconds, " µs", Bar::AtMost(30.0));
    let allocated = allocations(|| drop(black_box(call())));
    group.measurement("allocations of a call", allocated as f64, "", Bar::Shown);
    Ok(())
}
