//! Runs a compiler in its own process, and reads what it compiled.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use futures_util::future::try_join3;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::limits::{COMMAND, CompilerLimits, REFUSED};
use crate::error::LoadError;
use crate::limits::{CODE_BYTES, TEXT_BYTES};

/// The threads of a compilation. More would be faster for one tenant, and slower for all others.
const THREADS: &str = "2";

/// Compiles each module in its own process.
#[derive(Clone, Debug)]
pub struct CompilerProcess {
    /// The program whose command `compile-component` calls [`super::compile_component`]: on Linux the service itself,
    /// `/proc/self/exe`.
    pub program: PathBuf,
    /// The limits that the process sets on itself.
    pub limits: CompilerLimits,
}

impl CompilerProcess {
    /// Compiles a module. Dropping the future kills the process.
    ///
    /// # Errors
    /// The module is refused or exceeds a limit, or the process fails.
    pub(crate) async fn compile(
        &self,
        module: impl AsRef<[u8]> + Send,
    ) -> Result<Vec<u8>, LoadError> {
        let mut child = self.spawn().map_err(failed)?;
        let (Some(input), Some(output), Some(words)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(LoadError::Host);
        };
        // An error ends the process at once. Words beyond their limit and an unread module are not errors.
        let (code, words, ()) =
            try_join3(read_code(output), read_words(words), write(input, module)).await?;
        // Only now: a process whose output nobody reads does not end.
        let status = child.wait().await.map_err(failed)?;
        if status.success() {
            return Ok(code);
        }
        Err(self.fault(status, String::from_utf8_lossy(&words).trim()))
    }

    fn spawn(&self) -> io::Result<Child> {
        let CompilerLimits { memory_bytes, processor_time } = self.limits;
        Command::new(&self.program)
            .arg(COMMAND)
            .args(["--memory-bytes", &memory_bytes.to_string()])
            .args(["--processor-seconds", &processor_time.as_secs().to_string()])
            // The environment of the service has its secrets.
            .env_clear()
            .env("RAYON_NUM_THREADS", THREADS)
            // Each arena of glibc reserves 64 MiB of the address space.
            .env("MALLOC_ARENA_MAX", THREADS)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// Returns the error of a process that ended with `status` and these words.
    fn fault(&self, status: ExitStatus, words: &str) -> LoadError {
        let CompilerLimits { memory_bytes, processor_time } = self.limits;
        if status.code() == Some(REFUSED.into()) {
            return LoadError::Compile(words.to_owned());
        }
        match status.signal() {
            // Rust aborts a process whose allocator has no memory.
            Some(signal) if signal == Signal::ABORT.as_raw() => LoadError::Memory(memory_bytes),
            Some(signal) if signal == Signal::XCPU.as_raw() => {
                LoadError::ProcessorTime(processor_time)
            }
            _ => LoadError::Compiler(format!("{status}; {words}")),
        }
    }
}

/// Reads the compiled code to its end.
async fn read_code(output: ChildStdout) -> Result<Vec<u8>, LoadError> {
    let mut code = Vec::new();
    // One byte more than is accepted, to see that there is more.
    output.take(CODE_BYTES as u64 + 1).read_to_end(&mut code).await.map_err(failed)?;
    if code.len() > CODE_BYTES {
        let fault = format!("the compiled code has more than {} MiB", CODE_BYTES >> 20);
        return Err(LoadError::Compile(fault));
    }
    Ok(code)
}

/// Reads the first words about a failure.
async fn read_words(words: ChildStderr) -> Result<Vec<u8>, LoadError> {
    let mut first = Vec::new();
    words.take(TEXT_BYTES as u64).read_to_end(&mut first).await.map_err(failed)?;
    Ok(first)
}

/// Writes the module. A process that refuses it need not read it.
async fn write(mut input: ChildStdin, module: impl AsRef<[u8]> + Send) -> Result<(), LoadError> {
    let _ = input.write_all(module.as_ref()).await;
    Ok(())
}

fn failed(error: io::Error) -> LoadError {
    LoadError::Compiler(error.to_string())
}
