//! `portcullis`: the authorization service around the decision engine.

mod cli;
mod database_lock;
mod descriptors;
mod dev;
mod doctor;
mod front;
mod nearest_folder;
mod reference;
mod serve;
mod start_log;
mod telemetry;
#[cfg(test)]
mod tests;

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::{ExitCode, Termination};
use std::time::Duration;

use clap::Parser;
use portcullis_config::{Config, Variables, open_database};
use portcullis_model::clock::Clock;
use portcullis_operations::tenant_states::StateChange;
use portcullis_resolvers::{CompilerLimits, compile_component};
use portcullis_tools::load::{self, Loaded};
use portcullis_tools::{
    as_code, audit, bench, can, check, console, convert, decision_files, decisions, fmt, init,
    keys, lint, log_cases, matrix, policy_test, remote, replay, resolver_cli, schema, secrets,
    tenants, types,
};
#[cfg(all(feature = "jemalloc", not(test)))]
use tikv_jemallocator::Jemalloc;

use crate::cli::{
    Cases, Cli, Command, CompileComponent, Console as ConsoleCommand, Decisions, EnvFile, Import,
    Keys, Secrets, Tenants,
};

/// The allocator of the released binary: while plans come and go, the memory stays near what is in use
/// (`docs/performance.md`). The tests of this crate have one that counts.
#[cfg(all(feature = "jemalloc", not(test)))]
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The longest wait for threads that still compute when the service has stopped. Nobody needs their results.
const THREADS_TIMEOUT: Duration = Duration::from_millis(200);

/// The exit code for settings or arguments that cannot be used.
const BAD_CONFIGURATION: u8 = 2;

fn main() -> ExitCode {
    let _flushed = telemetry::FlushedByPanic;
    let outcome = run(Cli::parse().command);
    // The lines that wait come first: the error is printed past their queue.
    let is_read = telemetry::flush();
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Somebody who does not read standard error must not keep the process.
            if is_read {
                let _ = writeln!(std::io::stderr(), "portcullis: {error:#}");
            }
            if bench::is_usage(&error) {
                ExitCode::from(BAD_CONFIGURATION)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let no_file = &EnvFile { env_file: None };
    match command {
        Command::Serve(file) => on_runtime(serve::run(Config::read(&prepare(&file)?)?)),
        Command::Dev { dir, data_dir, port } => serve_folder(dir.as_deref(), &data_dir, port),
        Command::Init(arguments) => ask_and_init(&arguments),
        Command::Check(arguments) => with_variables(no_file, async |variables| {
            let now = Clock::system().now();
            check::run(&arguments, variables, now, &mut out, &mut err).await
        }),
        Command::Doctor { ready, file } => on_runtime(async move {
            let file = file.env_file.as_deref();
            if ready {
                doctor::ready(file, &mut out).await
            } else {
                doctor::run(file, &Clock::system(), &mut out).await
            }
        }),
        Command::Migrate(file) => with_variables(&file, migrate),
        Command::Keys(command) => manage_keys(command),
        Command::Console(ConsoleCommand::Link { arguments, file }) => {
            with_variables(&file, async |variables| console::link(variables, &arguments).await)
        }
        Command::Tenants(command) => manage_tenants(command),
        Command::Audit { arguments, file } => {
            with_variables(&file, async |variables| audit::list(variables, &arguments).await)
        }
        Command::Decisions(command) => decisions_command(&command, &mut out, &mut err),
        Command::Secrets(Secrets::Reencrypt { file }) => {
            with_variables(&file, async |variables| secrets::reencrypt(variables).await)
        }
        Command::Import(Import::Casbin { arguments, file }) => {
            with_variables(&file, async |variables| {
                portcullis_import::casbin::run(&arguments, variables, &mut out, &mut err).await
            })
        }
        Command::Import(Import::Relations { arguments, file }) => {
            with_variables(&file, async |variables| {
                load::run(Loaded::Relations, &arguments, variables, &mut out, &mut err).await
            })
        }
        Command::Import(Import::Entities { arguments, file }) => {
            with_variables(&file, async |variables| {
                load::run(Loaded::Entities, &arguments, variables, &mut out, &mut err).await
            })
        }
        Command::Import(Import::Openfga { arguments, file }) => {
            with_variables(&file, async |variables| {
                portcullis_import::openfga::run(&arguments, variables, &mut out, &mut err).await
            })
        }
        Command::Import(Import::Spicedb { arguments, file }) => {
            with_variables(&file, async |variables| {
                portcullis_import::spicedb::run(&arguments, variables, &mut out, &mut err).await
            })
        }
        Command::Export(arguments) => with_variables(no_file, async |variables| {
            as_code::export(&arguments, variables, &mut err).await
        }),
        Command::Plan(arguments) => with_variables(no_file, async |variables| {
            as_code::plan(&arguments, variables, &Clock::system(), &mut out, &mut err).await
        }),
        Command::Apply(arguments) => with_variables(no_file, async |variables| {
            as_code::apply(&arguments, variables, &mut out, &mut err).await
        }),
        Command::Drift(arguments) => with_variables(no_file, async |variables| {
            as_code::drift(&arguments, variables, &mut out, &mut err).await
        }),
        Command::Replay(arguments) => with_variables(no_file, async |variables| {
            let clock = Clock::system();
            Ok(replay::run(&arguments, variables, &clock, &mut out, &mut err).await)
        }),
        Command::Cases(Cases::FromLog(arguments)) => with_variables(no_file, async |variables| {
            let clock = Clock::system();
            log_cases::run(&arguments, variables, &clock, &mut out, &mut err).await
        }),
        Command::Test(arguments) => with_variables(no_file, async |variables| {
            Ok(policy_test::run(&arguments, variables, &mut out, &mut err).await)
        }),
        Command::Matrix(arguments) => match arguments.remote.url {
            Some(_) => with_variables(no_file, async |variables| {
                remote::matrix(&arguments, variables, &mut out).await
            }),
            None => matrix::run(&arguments, &mut out),
        },
        Command::Diff(arguments) => matrix::diff(&arguments, &mut out),
        Command::WhoCan(arguments) => match arguments.remote.url {
            Some(_) => with_variables(no_file, async |variables| {
                remote::who(&arguments, variables, &mut out).await
            }),
            None => can::who(&arguments, &mut out),
        },
        Command::WhatCan(arguments) => match arguments.remote.url {
            Some(_) => with_variables(no_file, async |variables| {
                remote::what(&arguments, variables, &mut out).await
            }),
            None => can::what(&arguments, &mut out),
        },
        Command::Fmt(arguments) => fmt::run(&arguments, &mut std::io::stdin(), &mut out, &mut err),
        Command::Convert(arguments) => {
            convert::run(&arguments, &mut std::io::stdin(), &mut out, &mut err)
        }
        Command::Lint(arguments) => Ok(lint::run(&arguments, &mut out, &mut err)),
        Command::Resolver { command } => {
            with_variables(no_file, async |variables| resolver_cli::run(&command, variables).await)
        }
        Command::Schema(arguments) => done(schema::run(&arguments, &mut out)),
        Command::Types(arguments) => done(types::run(&arguments, &mut out)),
        Command::Completions { shell } => {
            done(out.write_all(&reference::completions(shell)).map_err(anyhow::Error::from))
        }
        Command::ManPages { directory } => done(reference::write_man_pages(&directory)),
        Command::CompileComponent(CompileComponent { memory_bytes, processor_seconds }) => {
            let processor_time = Duration::from_secs(processor_seconds);
            Ok(compile_component(&CompilerLimits { memory_bytes, processor_time }))
        }
        Command::Bench { arguments, file } => {
            done(bench::run(&arguments, &prepare_command(&file)?, &mut out))
        }
    }
}

fn serve_folder(
    dir: Option<&Path>,
    data_dir: &Path,
    port: Option<u16>,
) -> anyhow::Result<ExitCode> {
    let variables = Variables::load(None)?.only(dev::VARIABLES);
    start_logging(&variables)?;
    let mut listen = variables.loopback_listen()?;
    if let Some(port) = port {
        listen.set_port(port);
    }
    on_runtime(dev::run(dir, data_dir, listen, variables))
}

/// Asks questions if a person can answer them.
fn ask_and_init(arguments: &init::InitArguments) -> anyhow::Result<ExitCode> {
    let mut input = std::io::stdin().lock();
    let questions = std::io::stdin().is_terminal();
    let questions = questions.then_some(&mut input as &mut dyn BufRead);
    done(init::run(arguments, questions, &mut std::io::stdout()))
}

fn decisions_command(
    command: &Decisions,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let no_file = EnvFile { env_file: None };
    let file = match command {
        Decisions::Verify { file } => file,
        _ => &no_file,
    };
    let clock = Clock::system();
    with_variables(file, async |variables| match command {
        Decisions::Tail(arguments) => decisions::tail(arguments, variables, &clock, out).await,
        Decisions::Search { arguments, limit } => {
            decisions::search(arguments, *limit, variables, &clock, out).await
        }
        Decisions::Show(arguments) => decisions::show(arguments, variables, out).await,
        Decisions::Export(arguments) => decisions::export(arguments, variables, &clock, out).await,
        Decisions::Erase(arguments) => decisions::erase(arguments, variables, (out, err)).await,
        Decisions::Verify { .. } => Ok(decision_files::verify(variables, out, err).await),
    })
}

fn manage_keys(command: Keys) -> anyhow::Result<ExitCode> {
    match command {
        Keys::Create { arguments, file } => {
            with_variables(&file, async |variables| keys::create(variables, &arguments).await)
        }
        Keys::List { tenant, file } => {
            with_variables(&file, async |variables| keys::list(variables, &tenant).await)
        }
        Keys::Revoke { tenant, id, file } => {
            with_variables(&file, async |variables| keys::revoke(variables, &tenant, id).await)
        }
    }
}

fn manage_tenants(command: Tenants) -> anyhow::Result<ExitCode> {
    let (tenant, change, file) = match command {
        Tenants::List { file } => {
            return with_variables(&file, async |variables| tenants::list(variables).await);
        }
        Tenants::Suspend { tenant, file } => (tenant, StateChange::Suspend, file),
        Tenants::Resume { tenant, file } => (tenant, StateChange::Resume, file),
        Tenants::Delete { tenant, file } => (tenant, StateChange::Delete, file),
    };
    with_variables(&file, async |variables| tenants::change(variables, &tenant, change).await)
}

fn done(outcome: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Runs a command with the variables of the environment and of `file`.
fn with_variables<T: Termination>(
    file: &EnvFile,
    command: impl AsyncFnOnce(&Variables) -> anyhow::Result<T>,
) -> anyhow::Result<ExitCode> {
    let variables = prepare_command(file)?;
    on_runtime(command(&variables))
}

/// Reads the variables, and starts the logging of a command.
fn prepare_command(file: &EnvFile) -> anyhow::Result<Variables> {
    let variables = Variables::load(file.env_file.as_deref())?;
    telemetry::start(variables.log_format()?, variables.log_filter_of_command()?)?;
    Ok(variables)
}

/// Reads the variables, and starts the logging of the service.
fn prepare(file: &EnvFile) -> anyhow::Result<Variables> {
    let variables = Variables::load(file.env_file.as_deref())?;
    start_logging(&variables)?;
    Ok(variables)
}

fn start_logging(variables: &Variables) -> anyhow::Result<()> {
    telemetry::start(variables.log_format()?, variables.log_filter()?)?;
    Ok(())
}

fn on_runtime<T: Termination>(
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(work).map(T::report);
    // To drop the runtime would wait for blocking threads without a limit.
    runtime.shutdown_timeout(THREADS_TIMEOUT);
    code
}

async fn migrate(variables: &Variables) -> anyhow::Result<()> {
    open_database(&variables.database_url()?).await?.close().await;
    // The database is up to date even if nobody reads it.
    let _ = writeln!(std::io::stdout(), "the database is up to date");
    Ok(())
}
