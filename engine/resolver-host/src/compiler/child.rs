//! The compiler in its own process: limits itself, reads a component, and writes its compiled code.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};

use super::limits::{CompilerLimits, REFUSED};
use crate::engine;
use crate::error::LoadError;
use crate::limits::MODULE_BYTES;
use crate::log::cut;
use crate::module::check_bytes;

/// The open files of the process: the three standard streams, and what the runtime opens for a moment.
const FILES: u64 = 64;
/// The niceness of the process: checks go before compilations.
const NICENESS: i32 = 10;

/// Compiles the component on standard input, within `limits`, and writes the code to standard output. This is the
/// body of the command that a [`super::CompilerProcess`] runs. It limits the process that calls it, for good.
///
/// Returns the exit code of the process. A failure has its cause in one line on standard error.
pub fn compile_component(limits: &CompilerLimits) -> ExitCode {
    let compiled = confine(limits).map_err(failed);
    let Err(error) = compiled.and_then(|()| compile()) else { return ExitCode::SUCCESS };
    let (code, cause) = match error {
        LoadError::Compile(cause) => (ExitCode::from(REFUSED), cause),
        other => (ExitCode::FAILURE, other.to_string()),
    };
    // Without a reader nobody needs the cause.
    let _ = io::stderr().write_all(cut(cause.replace('\n', " ")).as_bytes());
    code
}

fn compile() -> Result<(), LoadError> {
    let engine = engine::compiling().map_err(failed)?;
    let mut module = Vec::new();
    // One byte more than is accepted, so that `check_bytes` sees that the module is too large.
    io::stdin().take(MODULE_BYTES as u64 + 1).read_to_end(&mut module).map_err(failed)?;
    check_bytes(&module)?;
    let code = engine.precompile_component(&module);
    let code = code.map_err(|error| LoadError::Compile(format!("{error:#}")))?;
    let mut output = io::stdout();
    output.write_all(&code).and_then(|()| output.flush()).map_err(failed)
}

fn failed(error: io::Error) -> LoadError {
    LoadError::Compiler(error.to_string())
}

/// Limits this process. What it compiles comes from a tenant.
fn confine(limits: &CompilerLimits) -> io::Result<()> {
    prefer_to_end_this_process();
    // To be nicer is always allowed.
    let _ = nice(NICENESS);
    let seconds = limits.processor_time.as_secs().max(1);
    // The first limit sends a signal that names the cause, the second one kills.
    lower(Resource::Cpu, seconds, seconds + 1)?;
    // It writes no core file, and no other file.
    lower(Resource::Core, 0, 0)?;
    lower(Resource::Fsize, 0, 0)?;
    lower(Resource::Nofile, FILES, FILES)?;
    match lower(Resource::As, limits.memory_bytes, limits.memory_bytes) {
        // Other systems may refuse it. The service says so when it starts.
        Err(_) if !cfg!(target_os = "linux") => Ok(()),
        limited => limited,
    }
}

/// Lowers a limit to these values. A limit that is lower already stays.
fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let hard = getrlimit(resource).maximum.map_or(hard, |maximum| maximum.min(hard));
    let limit = Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) };
    Ok(setrlimit(resource, limit)?)
}

/// Asks the kernel to end this process when the service ends, and before the service when memory runs out.
#[cfg(target_os = "linux")]
fn prefer_to_end_this_process() {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // Both are a help and no condition: the limits hold without them.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

#[cfg(not(target_os = "linux"))]
fn prefer_to_end_this_process() {}
