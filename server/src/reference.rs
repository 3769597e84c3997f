//! Man pages and shell completions, made from the declaration of the command line.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Returns the script that completes the words of a command line.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "portcullis", &mut script);
    script
}

/// Writes a man page of section 1 for the program and for each command that the help shows.
///
/// # Errors
/// The directory does not exist, or cannot be written.
pub(crate) fn write_man_pages(directory: &Path) -> anyhow::Result<()> {
    clap_mangen::generate_to(Cli::command(), directory)
        .with_context(|| format!("cannot write man pages to `{}`", directory.display()))
}
