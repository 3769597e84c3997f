//! The settings of resolvers.

use std::path::PathBuf;

use portcullis_resolver_host::Compiler;

/// The settings of resolvers that the operator chooses.
#[derive(Clone, Debug)]
pub struct ResolverConfig {
    /// The number of calls that run at once.
    pub instances: u32,
    /// The size limit of cached answers, in bytes.
    pub cache_bytes: u64,
    /// The directory of the operator resolvers (`RESOLVERS_DIR`).
    pub directory: Option<PathBuf>,
    /// The directory of compiled code. Without it, every start compiles the modules again.
    pub code: Option<PathBuf>,
    /// The compiler of modules.
    pub compiler: Compiler,
}

impl Default for ResolverConfig {
    /// 64 calls at once take at most 4 GiB of memory, and only while they run.
    fn default() -> Self {
        Self {
            instances: 64,
            cache_bytes: 64 << 20,
            directory: None,
            code: None,
            compiler: Compiler::InProcess,
        }
    }
}
