//! `portcullis`: the authorization service around the decision engine.

mod cli;
mod descriptors;
mod dev;
mod front;
mod reference;
#[cfg(test)]
mod request_costs;
#[cfg(test)]
mod request_scaling;
mod serve;
mod start_log;
mod telemetry;

use std::io::{BufRead, IsTerminal, Write};
use std::process::{ExitCode, Termination};
use std::time::Duration;

use clap::Parser;
use portcullis_bench as bench;
use portcullis_config::{Config, Variables, open_database};
use portcullis_model::clock::Clock;
use portcullis_operations::tenant_states::StateChange;
use portcullis_resolvers::{CompilerLimits, compile_component};
use portcullis_tools::{
    as_code, audit, can, check, convert, fmt, import, init, keys, lint, matrix, policy_test,
    remote, resolver_cli, schema, secrets, tenants,
};

use crate::cli::{Cli, Command, CompileComponent, EnvFile, Import, Keys, Secrets, Tenants};

/// The longest wait for threads that still compute when the service has stopped. Nobody needs their results.
const THREADS_TIMEOUT: Duration = Duration::from_millis(200);

/// The exit code for settings or arguments that cannot be used.
const BAD_CONFIGURATION: u8 = 2;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "portcullis: {error:#}");
            if bench::is_usage(&error) {
                ExitCode::from(BAD_CONFIGURATION)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(file) => {
            let variables = prepare(&file)?;
            let config = Config::read(&variables)?;
            on_runtime(serve::run(config))
        }
        Command::Init(arguments) => {
            let mut input = std::io::stdin().lock();
            let questions = std::io::stdin().is_terminal();
            let questions = questions.then_some(&mut input as &mut dyn BufRead);
            init::run(&arguments, questions, &mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Check(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                let now = Clock::system().now();
                check::run(&arguments, &variables, now, &mut out, &mut err).await
            })
        }
        Command::Dev { dir, data_dir } => {
            let variables = Variables::load(None)?.only(dev::VARIABLES);
            start_logging(&variables)?;
            let listen = variables.loopback_listen()?;
            on_runtime(dev::run(dir.as_deref(), &data_dir, listen, variables))
        }
        Command::Migrate(file) => {
            let variables = prepare(&file)?;
            on_runtime(migrate(variables.database_url()?))
        }
        Command::Keys(Keys::Create { arguments, file }) => {
            let variables = prepare(&file)?;
            on_runtime(async move { keys::create(&variables, &arguments).await })
        }
        Command::Keys(Keys::List { tenant, file }) => {
            let variables = prepare(&file)?;
            on_runtime(keys::list(&variables, &tenant))
        }
        Command::Keys(Keys::Revoke { tenant, id, file }) => {
            let variables = prepare(&file)?;
            on_runtime(keys::revoke(&variables, &tenant, id))
        }
        Command::Tenants(Tenants::List { file }) => {
            let variables = prepare(&file)?;
            on_runtime(tenants::list(&variables))
        }
        Command::Tenants(Tenants::Suspend { tenant, file }) => {
            let variables = prepare(&file)?;
            on_runtime(tenants::change(&variables, &tenant, StateChange::Suspend))
        }
        Command::Tenants(Tenants::Resume { tenant, file }) => {
            let variables = prepare(&file)?;
            on_runtime(tenants::change(&variables, &tenant, StateChange::Resume))
        }
        Command::Tenants(Tenants::Delete { tenant, file }) => {
            let variables = prepare(&file)?;
            on_runtime(tenants::change(&variables, &tenant, StateChange::Delete))
        }
        Command::Audit { tenant, file } => {
            let variables = prepare(&file)?;
            on_runtime(async move { audit::list(&variables, tenant.as_deref()).await })
        }
        Command::Secrets(Secrets::Reencrypt { file }) => {
            let variables = prepare(&file)?;
            on_runtime(secrets::reencrypt(&variables))
        }
        Command::Import(Import::Casbin { arguments, file }) => {
            let variables = prepare(&file)?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                import::run(&arguments, &variables, &mut out, &mut err).await
            })
        }
        Command::Export(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                as_code::export(&arguments, &variables, &mut std::io::stderr()).await
            })
        }
        Command::Plan(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                as_code::plan(&arguments, &variables, &mut out, &mut err).await
            })
        }
        Command::Apply(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                as_code::apply(&arguments, &variables, &mut out, &mut err).await
            })
        }
        Command::Drift(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                as_code::drift(&arguments, &variables, &mut out, &mut err).await
            })
        }
        Command::Bench { arguments, file } => {
            let variables = prepare(&file)?;
            bench::run(&arguments, &variables, &mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Resolver { command } => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move { resolver_cli::run(&command, &variables).await })
        }
        Command::CompileComponent(CompileComponent { memory_bytes, processor_seconds }) => {
            let processor_time = Duration::from_secs(processor_seconds);
            Ok(compile_component(&CompilerLimits { memory_bytes, processor_time }))
        }
        Command::Schema(arguments) => {
            schema::run(&arguments, &mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            std::io::stdout().write_all(&reference::completions(shell))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::ManPages { directory } => {
            reference::write_man_pages(&directory)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Matrix(arguments) if arguments.remote.url.is_some() => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                remote::matrix(&arguments, &variables, &mut std::io::stdout()).await
            })
        }
        Command::WhoCan(arguments) if arguments.remote.url.is_some() => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(
                async move { remote::who(&arguments, &variables, &mut std::io::stdout()).await },
            )
        }
        Command::WhatCan(arguments) if arguments.remote.url.is_some() => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(
                async move { remote::what(&arguments, &variables, &mut std::io::stdout()).await },
            )
        }
        Command::Matrix(arguments) => matrix::run(&arguments, &mut std::io::stdout()),
        Command::Diff(arguments) => matrix::diff(&arguments, &mut std::io::stdout()),
        Command::WhoCan(arguments) => can::who(&arguments, &mut std::io::stdout()),
        Command::WhatCan(arguments) => can::what(&arguments, &mut std::io::stdout()),
        Command::Fmt(arguments) => {
            let (mut input, mut out) = (std::io::stdin(), std::io::stdout());
            fmt::run(&arguments, &mut input, &mut out, &mut std::io::stderr())
        }
        Command::Convert(arguments) => {
            let (mut input, mut out) = (std::io::stdin(), std::io::stdout());
            convert::run(&arguments, &mut input, &mut out, &mut std::io::stderr())
        }
        Command::Lint(arguments) => {
            Ok(lint::run(&arguments, &mut std::io::stdout(), &mut std::io::stderr()))
        }
        Command::Test(arguments) => {
            let variables = prepare(&EnvFile { env_file: None })?;
            on_runtime(async move {
                let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
                Ok(policy_test::run(&arguments, &variables, &mut out, &mut err).await)
            })
        }
    }
}

/// Reads the variables, and starts logging with their settings.
fn prepare(file: &EnvFile) -> anyhow::Result<Variables> {
    let variables = Variables::load(file.env_file.as_deref())?;
    start_logging(&variables)?;
    Ok(variables)
}

fn start_logging(variables: &Variables) -> anyhow::Result<()> {
    telemetry::start(variables.log_format()?, variables.log_filter()?);
    Ok(())
}

fn on_runtime<T: Termination>(
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(work).map(T::report);
    runtime.shutdown_timeout(THREADS_TIMEOUT);
    code
}

async fn migrate(database_url: String) -> anyhow::Result<()> {
    open_database(&database_url).await?.close().await;
    let _ = writeln!(std::io::stdout(), "the database is up to date");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_computes_does_not_hold_the_process() {
        let (_never, wait) = std::sync::mpsc::channel::<()>();
        let work = async move {
            tokio::task::spawn_blocking(move || wait.recv());
            Ok(ExitCode::SUCCESS)
        };
        assert!(on_runtime(work).is_ok());
    }
}
