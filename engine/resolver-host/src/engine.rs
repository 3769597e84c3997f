//! The engine of wasmtime: its settings, which decide what compiled code is compatible, and its epoch.

use std::io;

use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy,
};

use crate::limits::{CORE_INSTANCES, MEMORY_BYTES, STACK_BYTES, TABLES, TICK};

/// The first bytes of an instance's memory that are written over after a call, with the initial content of the module.
/// The kernel takes back the rest: it locks the address space of the process and interrupts the other processors, which
/// costs more than to write over two WebAssembly pages. A module built with a stack of 64 KiB needs no more than these.
const KEPT_MEMORY_BYTES: usize = 128 * 1024;
/// The first bytes of a table that are written over after a call. A table of functions has some hundred entries of 8
/// bytes; each component has several.
const KEPT_TABLE_BYTES: usize = 16 * 1024;

/// Makes the engine of a host: pooled instances of bounded size, and epochs that interrupt guests.
///
/// # Errors
/// The address space or the thread that advances the epoch is not available.
pub(crate) fn running(instances: u32) -> io::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances * CORE_INSTANCES)
        .total_memories(instances)
        .total_tables(instances * TABLES)
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(1)
        .max_tables_per_component(TABLES)
        .max_memory_size(MEMORY_BYTES)
        .linear_memory_keep_resident(KEPT_MEMORY_BYTES)
        .table_keep_resident(KEPT_TABLE_BYTES);
    // `pagemap_scan` stays off: in 48.0.8 a dirty page that was swapped out may remain in the next instance
    // (bytecodealliance/wasmtime#14357).
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    let engine = Engine::new(&config).map_err(io::Error::other)?;
    start_ticker(&engine)?;
    Ok(engine)
}

/// Makes an engine that only compiles. It reserves no address space for instances, which its process does not have.
///
/// # Errors
/// The processor is not supported.
pub(crate) fn compiling() -> io::Result<Engine> {
    Engine::new(&config()).map_err(io::Error::other)
}

/// The settings on which compiled code depends. The code of [`compiling`] runs in the engine of [`running`].
fn config() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(STACK_BYTES)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .shared_memory(false);
    config
}

/// Advances the engine's epoch while the engine lives, in a thread that no guest can occupy. Each step makes running
/// guests yield and check their deadlines.
fn start_ticker(engine: &Engine) -> io::Result<()> {
    let engine = engine.weak();
    let thread = std::thread::Builder::new().name("resolver-ticker".to_owned());
    let ticker = thread.spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            // Before the pause, so that this thread does not keep an engine that nobody else has.
            drop(engine);
            std::thread::sleep(TICK);
        }
    });
    ticker.map(drop)
}
