//! `portcullis resolver`: attribute resolvers, from an empty folder to a running service (`docs/resolvers.md`).

mod bench;
pub(crate) mod build;
mod cargo;
mod checks;
pub(crate) mod guest;
mod inspect;
mod new;
pub(crate) mod project;
mod push;
pub(crate) mod responses;
mod steps;
mod test;
mod trial;

use std::process::ExitCode;

use clap::Subcommand;
use portcullis_config::Variables;

pub(crate) use checks::CHECKS_SCHEMA;
#[cfg(test)]
pub(crate) use checks::faults_of_checks;

/// The commands for resolvers.
#[derive(Debug, Subcommand)]
pub enum ResolverCommand {
    /// Create a crate of a resolver that builds and passes its tests.
    New(new::NewArguments),
    /// Build the component from a crate.
    Build(build::BuildArguments),
    /// Show the imports, the attributes and the requirements of a component.
    ///
    /// The command makes the same checks as the service and refuses a component with the same message.
    Inspect(inspect::InspectArguments),
    /// Run a component on the checks of a file, and show its answers, its log, its time and its memory.
    ///
    /// Requests go to the real endpoints of the manifest if EGRESS_ALLOW_CIDRS and EGRESS_ALLOW_HTTP allow it, unless a
    /// check has its own `responses`.
    Test(test::TestArguments),
    /// Measure the time and memory of calls to a component.
    Bench(bench::CallBenchArguments),
    /// Install or replace a resolver in a running Portcullis service.
    ///
    /// Needs a service key with the permissions `resolvers:read` and `resolvers:write` in SERVICE_API_KEY, or a
    /// manager's token in TOKEN.
    Push(push::PushArguments),
}

/// Runs a command. The results go to standard output, and the progress to standard error.
///
/// # Errors
/// The cause of the failure, as a message for the user.
pub async fn run(command: &ResolverCommand, variables: &Variables) -> anyhow::Result<ExitCode> {
    let out = &mut std::io::stdout();
    match command {
        ResolverCommand::New(arguments) => new::run(arguments, out)?,
        ResolverCommand::Build(arguments) => build::run(arguments, variables, out).await?,
        ResolverCommand::Inspect(arguments) => inspect::run(arguments, out).await?,
        ResolverCommand::Test(arguments) => return Ok(test::run(arguments, variables, out).await),
        ResolverCommand::Bench(arguments) => bench::run(arguments, variables, out).await?,
        ResolverCommand::Push(arguments) => push::run(arguments, variables, out).await?,
    }
    Ok(ExitCode::SUCCESS)
}
