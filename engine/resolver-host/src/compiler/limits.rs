//! The limits of a compiler's process, and the words in which it gets them.

use std::time::Duration;

/// The command of the program that compiles.
pub(super) const COMMAND: &str = "compile-component";
/// The exit code of the compiler for a module that it refuses. Its cause is on standard error.
pub(super) const REFUSED: u8 = 3;

/// The limits of one compilation.
#[derive(Clone, Copy, Debug)]
pub struct CompilerLimits {
    /// The address space of the process, in bytes (`RLIMIT_AS`). It includes some 100 MiB of the program itself.
    pub memory_bytes: u64,
    /// The processor time of all threads, in whole seconds (`RLIMIT_CPU`).
    pub processor_time: Duration,
}

impl Default for CompilerLimits {
    /// 12 MB of JavaScript take 400 MiB, and some 20 s of processor time.
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, processor_time: Duration::from_secs(120) }
    }
}
