//! `portcullis resolver`: attribute resolvers, from an empty folder to a running service (`docs/resolvers.md`).

mod bench;
mod build;
mod cargo;
mod checks;
mod guest;
mod inspect;
mod multipart;
mod new;
mod project;
mod push;
mod responses;
mod steps;
mod test;
mod trial;

use std::process::ExitCode;

use clap::Subcommand;

use portcullis_config::Variables;

/// What can be done with resolvers.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a crate that builds and passes its tests at once.
    New(new::Arguments),
    /// Build the component of a crate.
    Build(build::Arguments),
    /// Show what a component is: its imports, its attributes, and what it needs.
    ///
    /// It is judged as the service judges it; what the service would refuse is refused here, with the same words.
    Inspect(inspect::Arguments),
    /// Run a component on checks from a file, and show its answers, its log, and what they took.
    ///
    /// Requests to the manifest's endpoints are made for real, where EGRESS_ALLOW_CIDRS and EGRESS_ALLOW_HTTP allow,
    /// unless a check gives the responses itself.
    Test(test::Arguments),
    /// Measure what calls of a component cost.
    Bench(bench::Arguments),
    /// Install a component in a running Portcullis, or replace it there.
    ///
    /// The credential is a service key in SERVICE_API_KEY, or a manager's token in TOKEN.
    Push(push::Arguments),
}

/// Does what the command says. The results go to standard output, how far it is to standard error.
///
/// # Errors
/// What went wrong, in words for whoever called.
pub async fn run(command: &Command, variables: &Variables) -> anyhow::Result<ExitCode> {
    let out = &mut std::io::stdout();
    match command {
        Command::New(arguments) => new::run(arguments, out)?,
        Command::Build(arguments) => build::run(arguments, variables, out).await?,
        Command::Inspect(arguments) => inspect::run(arguments, out).await?,
        Command::Test(arguments) => return test::run(arguments, variables, out).await,
        Command::Bench(arguments) => bench::run(arguments, variables, out).await?,
        Command::Push(arguments) => push::run(arguments, variables, out).await?,
    }
    Ok(ExitCode::SUCCESS)
}
