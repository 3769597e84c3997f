//! `portcullis import relations` and `import entities`: write a file of tuples or entities, one in a line, into a running
//! service.
//!
//! A part of the file is one call, and one transaction. What is written is noted beside the file, so that the command goes on
//! there when it is run again after an interruption.

mod arguments;
mod key;
mod kind;
mod loader;
mod noted;
mod parts;
mod tuple_line;

use std::fs::File;
use std::io::{BufReader, Read, Write, stdin};

use anyhow::Context;
use portcullis_config::Variables;

use crate::service::Service;
pub use arguments::LoadArguments;
pub use kind::Loaded;
use loader::Loader;
use noted::NotedProgress;
use parts::Parts;

/// The name of standard input.
const STDIN: &str = "-";

/// Loads a file as the arguments say. Writes progress to `err`, and the counts to `out`.
///
/// # Errors
/// The file cannot be read, a line is wrong, or the service refuses a part or gives no answer. The parts before it are written.
pub async fn run(
    loaded: Loaded,
    arguments: &LoadArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let service = Service::new(&arguments.service, variables)?;
    let is_stdin = arguments.file.as_os_str() == STDIN;
    let input = open(arguments, is_stdin)?;
    let mut parts = Parts::new(BufReader::new(input), loaded);
    let is_noted = !is_stdin && !arguments.dry_run;
    let job = format!("{} {loaded:?} {:?} {}", service.base, arguments.source, arguments.sync);
    let noted = match is_noted {
        true => NotedProgress::beside(&arguments.file, &job),
        false => NotedProgress::nowhere(),
    };
    let mut loader = Loader { service: &service, loaded, arguments, noted };
    if loader.noted.is_begun() && !loader.can_go_on(&mut parts).await? {
        loader.noted = NotedProgress::beside_changed(&arguments.file, &job);
        // The comparison has read a part of the file, which has to be written after all.
        parts = Parts::new(BufReader::new(open(arguments, false)?), loaded);
    }
    let counts = loader.load(parts, err).await?;
    writeln!(out, "{}: {counts}", loaded.list())?;
    Ok(())
}

/// Opens the file.
fn open(arguments: &LoadArguments, is_stdin: bool) -> anyhow::Result<Box<dyn Read + Send>> {
    if is_stdin {
        return Ok(Box::new(stdin()));
    }
    Ok(Box::new(File::open(&arguments.file).with_context(|| arguments.not_read())?))
}

#[cfg(test)]
mod tests;
