//! The limits of what resolvers of tenants take in memory.

/// Most resolvers that are forgotten for a new one. A module stays while a call of it runs, so its bytes may stay too.
pub(crate) const MAX_FORGOTTEN: usize = 64;

/// The most that the resolvers of all tenants take. Beyond that, those that were not used for the longest time go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegistryLimits {
    pub(crate) resolvers: usize,
    /// Bytes of the modules, each once.
    pub(crate) module_bytes: usize,
}

impl Default for RegistryLimits {
    /// A resolver takes some 12 KiB beside its module, most of it for the latency of its calls.
    fn default() -> Self {
        Self { resolvers: 4_096, module_bytes: 256 << 20 }
    }
}
