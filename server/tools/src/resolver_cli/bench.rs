//! `portcullis resolver bench`: measures calls of a component.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use portcullis_config::Variables;
use portcullis_engine::{AttributeRequest, ResolverRef, json};
use portcullis_model::clock::Clock;
use portcullis_resolvers::{CacheMode, Registry, ResolverConfig};
use portcullis_runtime::metrics::Metrics;
use uuid::Uuid;

use super::checks::{self, ExpectedAnswer, Sample};
use super::guest;
use super::project::Project;
use super::steps::Step;
use super::trial::{Trial, TrialFiles};
use crate::humanize;

/// The arguments of `portcullis resolver bench`.
#[derive(Debug, clap::Args)]
pub struct CallBenchArguments {
    #[command(flatten)]
    files: TrialFiles,
    /// The number of calls. They run one after the other, each in a fresh instance.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    calls: u32,
}

/// The tenant's reference to the component.
const MEASURED: ResolverRef = ResolverRef { id: Uuid::nil(), version: 1 };

/// The measurements of calls.
struct CallMeasurements {
    /// Nanoseconds of each call.
    times: Histogram<u64>,
    /// The duration of all calls together.
    total: Duration,
    /// The largest memory of a call.
    memory_bytes: usize,
}

pub(super) async fn run(
    arguments: &CallBenchArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let project = arguments.files.project()?;
    let (file, bytes) = arguments.files.checks(&project)?;
    let json = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let samples = checks::read(&json).with_context(|| file.display().to_string())?;

    // Compiled code is private: the host refuses a directory that others can enter.
    let private = Permissions::from_mode(0o700);
    let code = tempfile::Builder::new().permissions(private).tempdir()?;
    let host = guest::host(Some(code.path()))?;
    let begun = Instant::now();
    guest::load(&host, &project).await?;
    let compiled = begun.elapsed();
    // The second load finds the compiled code.
    let begun = Instant::now();
    let module = guest::load(&host, &project).await?;
    let loaded = begun.elapsed();

    let trial = Trial::open(host, module, &project, &arguments.files, variables)?;
    let calls = measure_calls(&trial, &samples, arguments.calls).await?;
    let resolvers = active(&project, &trial, variables, code.path()).await?;
    let cached = measure_cached(&resolvers, &trial, &samples, arguments.calls).await?;
    let about = &trial.module().descriptor;
    writeln!(out, "{} {} ({})", about.name, about.version, project.component.display())?;
    writeln!(out, "  compile     {}", humanize::duration(compiled))?;
    writeln!(out, "  load        {}, once it is compiled", humanize::duration(loaded))?;
    writeln!(out, "  call        {}", quantiles(&calls.times))?;
    writeln!(
        out,
        "  calls       {} per second, one after the other, each in a fresh instance",
        humanize::rate(f64::from(arguments.calls) / calls.total.as_secs_f64())
    )?;
    writeln!(out, "  memory      {} at most", humanize::bytes(calls.memory_bytes as u64))?;
    match cached {
        Some(times) => writeln!(out, "  cached      {}", quantiles(&times))?,
        None => {
            writeln!(out, "  cached      not measured: no check has answers that can be cached")?;
        }
    }
    Ok(())
}

fn quantiles(times: &Histogram<u64>) -> String {
    let [p50, p99, max] =
        [0.5, 0.99, 1.0].map(|at| humanize::time(times.value_at_quantile(at) as f64));
    format!("p50 {p50}, p99 {p99}, max {max}")
}

/// Calls the component on one check after the other.
async fn measure_calls(
    trial: &Trial,
    samples: &[Sample<'_>],
    calls: u32,
) -> anyhow::Result<CallMeasurements> {
    let _step = Step::begin(format!("{} calls", humanize::count(calls as usize)));
    let mut times = Histogram::new(3)?;
    let mut memory_bytes = 0;
    let begun = Instant::now();
    for sample in samples.iter().cycle().take(calls as usize) {
        let start = Instant::now();
        let outcome = trial.call(sample).await?;
        times.record(u64::try_from(start.elapsed().as_nanos())?)?;
        memory_bytes = memory_bytes.max(outcome.memory_bytes);
        // A call that fails at once would look like a fast one.
        let may_fail = matches!(sample.expected, ExpectedAnswer::Error(_));
        if let Err(error) = &outcome.result {
            ensure!(may_fail, "the check `{}` fails: {error}", sample.name);
        }
    }
    Ok(CallMeasurements { times, total: begun.elapsed(), memory_bytes })
}

/// Makes the component an active resolver, with the cache that the service has.
async fn active(
    project: &Project,
    trial: &Trial,
    variables: &Variables,
    code: &Path,
) -> anyhow::Result<Registry> {
    let config = ResolverConfig { code: Some(code.to_owned()), ..ResolverConfig::default() };
    let (metrics, clock) = (Metrics::new().resolvers, Clock::system());
    let resolvers = Registry::new(&config, &variables.egress()?, metrics, clock)?;
    let module = resolvers.runtime.admit(checks::TENANT, project.bytes()?.into()).await?;
    let bound = resolvers.runtime.bind(checks::TENANT, module, trial.manifest())?;
    resolvers.activate(checks::TENANT, MEASURED, bound);
    Ok(resolvers)
}

/// Measures cached answers, on the first check whose answers are all cached; `None` if there is no such check.
async fn measure_cached(
    resolvers: &Registry,
    trial: &Trial,
    samples: &[Sample<'_>],
    calls: u32,
) -> anyhow::Result<Option<Histogram<u64>>> {
    for sample in samples {
        let (check, attributes) = (trial.check(sample), trial.wanted(sample));
        let asks = [AttributeRequest {
            namespace: "measured".into(),
            resolver: Some(MEASURED),
            attributes,
        }];
        // The first request fills the cache.
        resolvers.ask(checks::TENANT, &check, &asks, CacheMode::Use).await;
        let second = resolvers.ask(checks::TENANT, &check, &asks, CacheMode::Use).await;
        if !second.is_from_cache() {
            continue;
        }
        let mut times = Histogram::new(3)?;
        for _ in 0..calls {
            let start = Instant::now();
            resolvers.ask(checks::TENANT, &check, &asks, CacheMode::Use).await;
            times.record(u64::try_from(start.elapsed().as_nanos())?)?;
        }
        return Ok(Some(times));
    }
    Ok(None)
}
