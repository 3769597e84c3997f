//! The command `portcullis bench`: its arguments, and its run from the tenants to the reports.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use portcullis_config::Variables;
use portcullis_model::clock::Clock;

use crate::bench::checks::{self, MeasuredCheck};
use crate::bench::generate;
use crate::bench::html;
use crate::bench::measure::Bench;
use crate::bench::progress::Progress;
use crate::bench::report::Report;
use crate::bench::source::Source;
use crate::bench::table;
use crate::bench::tenant::{self, MeasuredFolder, Tenant};
use crate::bench::unusable::Unusable;

/// The arguments of `portcullis bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArguments {
    /// The folder of a tenant, or a folder of such folders. Without it, the rules come from the database.
    pub path: Option<PathBuf>,
    /// A tenant of the database, by id or slug.
    #[arg(long, value_name = "ID", required_unless_present = "path", conflicts_with = "path")]
    tenant: Option<String>,
    /// A database that has the tenants; plans are loaded from it. It is only read. Can be repeated. Without a folder, the
    /// default is DATABASE_URL.
    #[arg(long, value_name = "URL")]
    database: Vec<String>,
    /// An empty database. The tenants of the folder are stored in it, and plans are loaded from it. `sqlite` is a
    /// temporary file. Can be repeated.
    #[arg(long, value_name = "URL", requires = "path")]
    scratch: Vec<String>,
    /// The domain of checks that have no domain (default: the tenant's id).
    #[arg(long)]
    domain: Option<String>,
    /// A file of checks: one body of `POST /api/v1/check` on each line. Without it, checks are made from the rules.
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,
    /// The seed of the generated checks; another seed makes other checks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The total time of the measurement, in seconds.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// The largest number of threads (default: the number of cores).
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the report to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report to this file as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Reads the total time of the measurement.
fn seconds(text: &str) -> Result<f64, &'static str> {
    let longest = Duration::from_hours(24).as_secs_f64();
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= longest);
    seconds.ok_or("expected a number of seconds above 0 and up to a day")
}

/// Measures as the arguments say, and writes the results to `out`.
///
/// # Errors
/// [`Unusable`] or `ConfigError` if the user has to change the call; any other error is a failure.
pub fn run(
    arguments: &BenchArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folders = match &arguments.path {
        Some(path) => runtime.block_on(tenant::read(path, variables))?,
        None => Vec::new(),
    };
    let outputs = Outputs::create(arguments)?;
    let (tenants, sources) = runtime.block_on(open(arguments, folders, variables))?;
    let asked = asked(arguments, &tenants)?;
    if asked.is_empty() {
        return Err(Unusable::error("there is no check to measure: the rules are empty"));
    }
    let bench = Bench {
        tenants: &tenants,
        sources: &sources,
        asked: &asked,
        time: Duration::from_secs_f64(arguments.seconds),
        threads: threads(arguments.threads),
        cache_bytes: variables.plan_cache_bytes()?,
        progress: Progress::new(),
        runtime: runtime.handle(),
    };
    let mut report = bench.run()?;
    report.seed = arguments.checks.is_none().then_some(arguments.seed);
    report.seconds = arguments.seconds;
    for source in &sources {
        runtime.block_on(source.close());
    }
    out.write_all(table::render(&report).as_bytes())?;
    outputs.write(&report)
}

/// Returns the largest number of threads.
fn threads(most: Option<u16>) -> usize {
    most.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// The files of the report. They are created before the measurement, so that a file that cannot be written is reported
/// at once.
struct Outputs<'a> {
    json: Option<(&'a Path, File)>,
    html: Option<(&'a Path, File)>,
}

impl<'a> Outputs<'a> {
    fn create(arguments: &'a BenchArguments) -> anyhow::Result<Self> {
        let json = arguments.json.as_deref().map(create).transpose()?;
        let html = arguments.html.as_deref().map(create).transpose()?;
        Ok(Self { json, html })
    }

    fn write(self, report: &Report) -> anyhow::Result<()> {
        if let Some((path, mut file)) = self.json {
            let text = serde_json::to_string_pretty(report)?;
            writeln!(file, "{text}").with_context(|| path.display().to_string())?;
        }
        if let Some((path, mut file)) = self.html {
            let page = html::render(report)?;
            file.write_all(page.as_bytes()).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// Creates a file of the report.
fn create(path: &Path) -> anyhow::Result<(&Path, File)> {
    let file = File::create(path).map_err(|error| {
        Unusable::error(format!("{}: cannot be written: {error}", path.display()))
    })?;
    Ok((path, file))
}

/// Opens the tenants and the sources of their plans. Hits are measured on the first source.
async fn open(
    arguments: &BenchArguments,
    folders: Vec<MeasuredFolder>,
    variables: &Variables,
) -> anyhow::Result<(Vec<Tenant>, Vec<Source>)> {
    let mut sources = Vec::new();
    if arguments.path.is_none() {
        let mut urls = arguments.database.clone();
        if urls.is_empty() {
            urls.push(variables.database_url()?);
        }
        let mut named = arguments.tenant.clone().unwrap_or_default();
        let mut tenants = Vec::new();
        for url in &urls {
            let source = Source::open(url).await?;
            let tenant = source.tenant(&named, arguments.domain.as_deref()).await?;
            // The other databases must have the same tenant.
            named.clone_from(&tenant.id);
            tenants.push(tenant);
            sources.push(source);
        }
        // They are one tenant in several databases, and checks are made from the rules of the first.
        tenants.truncate(1);
        return Ok((tenants, sources));
    }
    let tenants = tenant::from_folders(folders, arguments.domain.as_deref())?;
    sources.push(Source::memory());
    for url in &arguments.scratch {
        sources.push(Source::scratch(url, &tenants).await?);
    }
    for url in &arguments.database {
        let source = Source::open(url).await?;
        // A database without one of the tenants is refused before anything is measured.
        for tenant in &tenants {
            source.tenant(&tenant.id, None).await?;
        }
        sources.push(source);
    }
    Ok((tenants, sources))
}

/// Returns the checks of the file, or else the cases of the folders and checks that are made from the rules.
fn asked(arguments: &BenchArguments, tenants: &[Tenant]) -> anyhow::Result<Vec<MeasuredCheck>> {
    if let Some(file) = &arguments.checks {
        return checks::replay(file, tenants, Clock::system().now());
    }
    let mut asked = checks::from_cases(tenants);
    // The checks of a tenant do not depend on how many numbers those before it draw.
    let mut seeds = fastrand::Rng::with_seed(arguments.seed);
    for index in 0..tenants.len() {
        asked.extend(generate::checks(index, tenants, fastrand::Rng::with_seed(seeds.u64(..))));
    }
    Ok(asked)
}
