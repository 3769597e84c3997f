//! `portcullis bench`: what decisions cost on a tenant's own rules.
//!
//! Tenants come from folders or a database, checks from a file or from the rules themselves. Every check is
//! decided once before anything is timed, so that a report says what was decided and by what.

mod checks;
mod generate;
mod html;
mod measure;
mod plot;
mod progress;
mod report;
mod source;
mod table;
mod tenant;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use checks::Asked;
use measure::Bench;
use portcullis_config::{ConfigError, Variables};
use portcullis_model::clock::Clock;
use progress::Progress;
use source::Source;
use tenant::Tenant;

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A tenant's folder, or a folder of them; without it the rules are those of the database.
    path: Option<PathBuf>,
    /// A tenant of the database, by id or slug.
    #[arg(long, value_name = "ID", required_unless_present = "path", conflicts_with = "path")]
    tenant: Option<String>,
    /// A database that has the tenants, to load plans from. It is only read. May be given several times; without
    /// a folder, DATABASE_URL is the default.
    #[arg(long, value_name = "URL")]
    database: Vec<String>,
    /// An empty database to store the tenants of the folder in and load plans from; `sqlite` alone is a
    /// temporary file. May be given several times.
    #[arg(long, value_name = "URL", requires = "path")]
    scratch: Vec<String>,
    /// The domain of checks that name none; the tenant's id without this.
    #[arg(long)]
    domain: Option<String>,
    /// Checks to replay: a body of `POST /api/v1/check` on each line. Without it, checks are made from the rules.
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,
    /// Makes other checks from the same rules.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long to measure, all in all.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Most threads to decide on; as many as there are cores without this.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the report as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let longest = Duration::from_hours(24).as_secs_f64();
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= longest);
    seconds.ok_or("expected a number of seconds above 0 and up to a day")
}

/// Something that the user has to change before anything can be measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

impl Unusable {
    fn error(what: impl std::fmt::Display) -> anyhow::Error {
        Self(what.to_string()).into()
    }
}

/// Measures as the arguments say; the results go to `out`.
///
/// # Errors
/// [`Unusable`] or [`ConfigError`] for what the user has to change, anything else for what failed.
pub fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outputs = Outputs::create(arguments)?;
    let (tenants, sources) = runtime.block_on(open(arguments, variables))?;
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
    runtime.block_on(async {
        for source in &sources {
            source.close().await;
        }
    });
    out.write_all(table::render(&report).as_bytes())?;
    outputs.write(&report)
}

fn threads(most: Option<u16>) -> usize {
    most.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// The files to write, opened first: nobody waits for a measurement that cannot be kept.
struct Outputs<'a> {
    json: Option<(&'a Path, std::fs::File)>,
    html: Option<(&'a Path, std::fs::File)>,
}

impl<'a> Outputs<'a> {
    fn create(arguments: &'a Arguments) -> anyhow::Result<Self> {
        let create = |path: &'a Option<PathBuf>| {
            let open = |path: &'a PathBuf| match std::fs::File::create(path) {
                Ok(file) => Ok((path.as_path(), file)),
                Err(error) => {
                    Err(Unusable::error(format!("{}: cannot be written: {error}", path.display())))
                }
            };
            path.as_ref().map(open).transpose()
        };
        Ok(Self { json: create(&arguments.json)?, html: create(&arguments.html)? })
    }

    fn write(self, report: &report::Report) -> anyhow::Result<()> {
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

/// The tenants, and where their plans come from; the first source is the one that hits are measured on.
async fn open(
    arguments: &Arguments,
    variables: &Variables,
) -> anyhow::Result<(Vec<Tenant>, Vec<Source>)> {
    let mut sources = Vec::new();
    let Some(path) = &arguments.path else {
        let mut urls = arguments.database.clone();
        if urls.is_empty() {
            urls.push(variables.database_url());
        }
        let mut named = arguments.tenant.clone().unwrap_or_default();
        let mut tenants = Vec::new();
        for url in &urls {
            let source = Source::open(url).await?;
            let tenant = source.tenant(&named, arguments.domain.as_deref()).await?;
            // The others must have the same one.
            named.clone_from(&tenant.id);
            tenants.push(tenant);
            sources.push(source);
        }
        tenants.truncate(1);
        return Ok((tenants, sources));
    };
    let tenants = tenant::read_folders(path, arguments.domain.as_deref())?;
    sources.push(Source::memory());
    for url in &arguments.scratch {
        sources.push(Source::scratch(url, &tenants).await?);
    }
    for url in &arguments.database {
        let source = Source::open(url).await?;
        for tenant in &tenants {
            source.tenant(&tenant.id, None).await?;
        }
        sources.push(source);
    }
    Ok((tenants, sources))
}

/// The checks: replayed, or the cases of the folders and what is made from the rules.
fn asked(arguments: &Arguments, tenants: &[Tenant]) -> anyhow::Result<Vec<Asked>> {
    if let Some(file) = &arguments.checks {
        return checks::replay(file, tenants, Clock::system().now());
    }
    let mut asked = checks::of_cases(tenants);
    let mut seeds = fastrand::Rng::with_seed(arguments.seed);
    for index in 0..tenants.len() {
        asked.extend(generate::checks(index, tenants, fastrand::Rng::with_seed(seeds.u64(..))));
    }
    Ok(asked)
}

/// Whether the user can mend it by calling otherwise, rather than something having failed.
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Unusable>() || error.is::<ConfigError>()
}
