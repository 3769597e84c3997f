//! The compiler of modules: in this process, or in a separate process with limits.
//!
//! The memory and time that a compilation takes are not a function of the module's size, and no library bounds them.
//! The operating system bounds them for a process.

mod child;
mod limits;
mod process;

pub use child::compile_component;
pub use limits::CompilerLimits;
pub use process::CompilerProcess;

/// The place where modules are compiled.
#[derive(Clone, Debug, Default)]
pub enum Compiler {
    /// This process, without limits: for the modules of the person who runs it.
    #[default]
    InProcess,
    /// A separate process for each module, with limits: for the modules of tenants.
    Process(CompilerProcess),
}
