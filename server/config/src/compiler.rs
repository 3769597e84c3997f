//! The compiler of resolver modules: this program, in another process.

use std::path::PathBuf;

use portcullis_resolvers::{Compiler, CompilerLimits, CompilerProcess};

use crate::error::ConfigError;
use crate::variables::Variables;

/// Least memory of a compilation. The program itself takes some 100 MiB of the address space.
const MIN_MEMORY: u64 = 256 << 20;

impl Variables {
    /// Returns the limits of a compilation.
    pub(crate) fn compiler_limits(&self) -> Result<CompilerLimits, ConfigError> {
        let memory = self.size_from("RESOLVER_COMPILER_MEMORY", MIN_MEMORY)?;
        let default = CompilerLimits::default();
        Ok(CompilerLimits { memory_bytes: memory.unwrap_or(default.memory_bytes), ..default })
    }
}

/// Returns the compiler that runs this program in another process.
pub fn own_compiler(limits: CompilerLimits) -> Compiler {
    // On Linux this is the program that runs, also after another version took the place of its file.
    let program = match cfg!(target_os = "linux") {
        true => PathBuf::from("/proc/self/exe"),
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("portcullis")),
    };
    Compiler::Process(CompilerProcess { program, limits })
}
