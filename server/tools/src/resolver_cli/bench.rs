//! `portcullis resolver bench`: what calls of a component cost.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use portcullis_engine::{Ask, ResolverRef, json};
use uuid::Uuid;

use super::checks::{self, Sample};
use super::guest;
use super::project::Project;
use super::steps::Step;
use super::trial::{Files, Trial};
use crate::humanize;
use portcullis_config::Variables;
use portcullis_model::clock::Clock;
use portcullis_operations::metrics::Metrics;
use portcullis_resolvers::{Registry, ResolverConfig};

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    files: Files,
    /// How many calls to make, each in a fresh instance, one after the other.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    calls: u32,
}

/// What came of the calls.
struct Measured {
    times: Histogram<u64>,
    all: Duration,
    memory_bytes: usize,
}

pub(super) async fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let project = arguments.files.project()?;
    let (file, bytes) = arguments.files.checks(&project)?;
    let json = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let samples = checks::read(&json).with_context(|| file.display().to_string())?;

    let private = Permissions::from_mode(0o700);
    let code = tempfile::Builder::new().permissions(private).tempdir()?;
    let host = guest::host(Some(code.path()))?;
    let begun = Instant::now();
    guest::load(&host, &project).await?;
    let compiled = begun.elapsed();
    // The second time, what the first one compiled is there.
    let begun = Instant::now();
    let module = guest::load(&host, &project).await?;
    let loaded = begun.elapsed();

    let trial = Trial::open(host, module, &project, &arguments.files, variables)?;
    let measured = measure(&trial, &samples, arguments.calls).await?;
    let service = service(&project, &trial, variables, code.path()).await?;
    let remembered = remembered(&service, &trial, &samples, arguments.calls).await?;
    let time = |duration: Duration| humanize::time(duration.as_nanos() as f64);
    let quantile = |quantile| humanize::time(measured.times.value_at_quantile(quantile) as f64);
    let rate = f64::from(arguments.calls) / measured.all.as_secs_f64();
    let about = trial.module().descriptor();
    writeln!(out, "{} {} ({})", about.name, about.version, project.component.display())?;
    writeln!(out, "  compile     {}", time(compiled))?;
    writeln!(out, "  load        {}, once it is compiled", time(loaded))?;
    writeln!(
        out,
        "  call        p50 {}, p99 {}, max {}",
        quantile(0.5),
        quantile(0.99),
        quantile(1.0)
    )?;
    writeln!(
        out,
        "  calls       {} per second, one after the other, each in a fresh instance",
        humanize::rate(rate)
    )?;
    writeln!(out, "  memory      {} at most", humanize::bytes(measured.memory_bytes as u64))?;
    match remembered {
        Some(times) => {
            let time = |quantile| humanize::time(times.value_at_quantile(quantile) as f64);
            writeln!(
                out,
                "  cached      p50 {}, p99 {}, max {}",
                time(0.5),
                time(0.99),
                time(1.0)
            )?;
        }
        None => writeln!(out, "  cached      nothing: no check has answers that can be kept")?,
    }
    Ok(())
}

/// Calls the component on one check after the other.
async fn measure(trial: &Trial, samples: &[Sample<'_>], calls: u32) -> anyhow::Result<Measured> {
    let _step = Step::begin(format!("{} calls", humanize::count(calls as usize)));
    let mut times = Histogram::new(3)?;
    let mut memory_bytes = 0;
    let all = Instant::now();
    for sample in samples.iter().cycle().take(calls as usize) {
        let begun = Instant::now();
        let outcome = trial.call(sample).await?;
        times.record(u64::try_from(begun.elapsed().as_nanos())?)?;
        memory_bytes = memory_bytes.max(outcome.memory_bytes);
        // A call that fails at once would look like a fast one.
        let expected = matches!(sample.expected, checks::Expected::Error(_));
        if let Err(error) = &outcome.result {
            ensure!(expected, "the check `{}` fails: {error}", sample.name);
        }
    }
    Ok(Measured { times, all: all.elapsed(), memory_bytes })
}

/// What the component is in a service.
const IN_SERVICE: ResolverRef = ResolverRef { id: Uuid::nil(), version: 1 };

/// The component in a service of its own, for what the service remembers.
async fn service(
    project: &Project,
    trial: &Trial,
    variables: &Variables,
    code: &Path,
) -> anyhow::Result<Registry> {
    let config = ResolverConfig { code: Some(code.to_owned()), ..ResolverConfig::default() };
    let (metrics, clock) = (Metrics::new().resolvers, Clock::system());
    let service = Registry::new(&config, &variables.egress()?, metrics, clock)?;
    let module = service.admit(checks::TENANT, project.bytes()?.into()).await?;
    service.activate(
        checks::TENANT,
        IN_SERVICE,
        service.bind(checks::TENANT, module, trial.manifest())?,
    );
    Ok(service)
}

/// Asks for what the service has in its cache, on the first check whose every answer is kept there; `None` if there is
/// no such check.
async fn remembered(
    service: &Registry,
    trial: &Trial,
    samples: &[Sample<'_>],
    calls: u32,
) -> anyhow::Result<Option<Histogram<u64>>> {
    for sample in samples {
        let (check, attributes) = (trial.check(sample), trial.wanted(sample));
        let asks = [Ask { namespace: "measured".into(), resolver: Some(IN_SERVICE), attributes }];
        let ask = || service.ask(checks::TENANT, &check, &asks);
        ask().await;
        if !ask().await.is_from_cache() {
            continue;
        }
        let mut times = Histogram::new(3)?;
        for _ in 0..calls {
            let begun = Instant::now();
            ask().await;
            times.record(u64::try_from(begun.elapsed().as_nanos())?)?;
        }
        return Ok(Some(times));
    }
    Ok(None)
}
