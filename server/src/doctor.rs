//! `portcullis doctor`: what is wrong with the settings of the service, or will be (`docs/operations.md`).
//!
//! It changes nothing, and no line that it prints has a secret: a report can contain them all.

mod database;
mod listeners;
mod places;
mod provider;
mod receivers;
mod report;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use portcullis_auth::Mode;
use portcullis_config::{Config, ConfigError, Variables, without_password};
use portcullis_model::clock::Clock;

use self::report::Report;
use crate::start_log::NO_PUBLIC_URL;

/// Looks at everything that the service needs, and prints what it finds. The exit code is 1 if something is wrong.
pub(crate) async fn run(
    env_file: Option<&Path>,
    clock: &Clock,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    match read(env_file) {
        Ok(config) => examine(&config, clock, &mut report).await,
        Err(fault) => {
            report.wrong("settings", format!("{fault}; set it right to see what else is wrong"))
        }
    }
    report.write(out)
}

/// Reads every setting that `serve` reads, in its order.
fn read(env_file: Option<&Path>) -> Result<Config, ConfigError> {
    let variables = Variables::load(env_file)?;
    // Read for their faults alone.
    variables.log_format()?;
    variables.log_filter()?;
    Config::read(&variables)
}

/// Asks the service that runs with these settings whether it is ready. The exit code is 1 if it is not.
pub(crate) async fn ready(
    env_file: Option<&Path>,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let config = read(env_file)?;
    let mut report = Report::default();
    listeners::ready(&config, &mut report).await;
    report.write(out)
}

async fn examine(config: &Config, clock: &Clock, report: &mut Report) {
    settings(config, report);
    if let Some(store) = database::examine(config, report).await {
        database::keys(&store, &config.encryption_keys, report).await;
        provider::registered(&store, config, report).await;
        receivers::examine(&store, &config.egress.rules, report).await;
        store.close().await;
    }
    if let Mode::Selfhost(Some(oidc)) | Mode::SingleTenant { oidc: Some(oidc), .. } = &config.mode {
        provider::configured(oidc, clock, report).await;
    }
    places::examine(config, report).await;
    listeners::examine(config, report).await;
}

fn settings(config: &Config, report: &mut Report) {
    let mode = match &config.mode {
        Mode::Selfhost(None) | Mode::SingleTenant { oidc: None, .. } => {
            "mode selfhost, service keys alone".to_owned()
        }
        Mode::Selfhost(Some(oidc)) | Mode::SingleTenant { oidc: Some(oidc), .. } => {
            format!("mode selfhost, tokens of `{}`", without_password(&oidc.issuer))
        }
        Mode::Saas { .. } => "mode saas, tokens of the providers of each tenant".to_owned(),
    };
    report.fine("settings", mode);
    if config.nobody_signs_in() {
        report.warning("settings", NO_PUBLIC_URL);
    }
    for name in &config.ignored_proxies {
        report.warning("settings", format!("`{name}` is ignored: the service uses no proxy"));
    }
}
