//! The errors of calls, of loading a module, and of binding it.

use std::time::Duration;

use crate::contract::Failure;
use crate::limits::{HANDLES, MODULE_BYTES, PASSED_BYTES, STACK_BYTES};

/// The reason why a call has no answer. The attributes are unknown, with this text as the cause. It is never cached.
/// The variants have the names of the outcomes of calls.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CallError {
    /// All instances, or the tenant's share of them, were busy.
    #[error("no instance was free within {} ms", .0.as_millis())]
    Busy(Duration),
    /// The wall time is over.
    #[error("timed out after {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// A growth of memory was refused, and the guest ended.
    #[error("memory limit of {} MiB", .0 >> 20)]
    Memory(usize),
    /// The recursion is too deep.
    #[error("stack limit of {} KiB", STACK_BYTES >> 10)]
    Stack,
    /// An access outside linear memory. The stack of C and Rust is in linear memory and grows down to its first byte, so
    /// an overflow ends here.
    #[error("memory access out of bounds, as by a stack that is exhausted")]
    OutOfBounds,
    /// The guest passed too many bytes to the host at once, in the answer or in a call of the host.
    #[error("passed more than {} KiB to the host", PASSED_BYTES >> 10)]
    TooLarge,
    /// The guest has too many handles of resources.
    #[error("more than {HANDLES} handles")]
    Handles,
    /// A panic, with its text.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Another trap.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The guest called `exit`, as if it were a process.
    #[error("called `exit`")]
    Exited,
    /// The exports are not a resolver's. Found when the module is loaded.
    #[error("does not fit `portcullis:resolver@1.0.0`: {0}")]
    Contract(String),
    /// The guest asked the host for something that it must not have.
    #[error("refused: {0}")]
    Refused(String),
    /// The answer breaks the descriptor.
    #[error("bad answer: {0}")]
    BadAnswer(String),
    /// The guest's `error.invalid`.
    #[error("invalid request: {0}")]
    Invalid(String),
    /// The guest's `error.unavailable`: the last good answer may serve.
    #[error("unavailable: {}", .0.message)]
    Unavailable(Failure),
    /// The guest's `error.internal`.
    #[error("internal error: {0}")]
    Internal(String),
    /// The host's own fault.
    #[error("the host failed")]
    Host,
}

impl CallError {
    /// Returns the error in words of the host alone, for everybody who may see a decision. Texts of a guest may contain
    /// anything, including values of attributes.
    pub fn summary(&self) -> String {
        match self {
            Self::Panicked(_) => "panicked".to_owned(),
            Self::Trapped(_) => "trapped".to_owned(),
            Self::Contract(_) => "does not fit `portcullis:resolver@1.0.0`".to_owned(),
            Self::Refused(_) => "refused".to_owned(),
            Self::BadAnswer(_) => "bad answer".to_owned(),
            Self::Invalid(_) => "invalid request".to_owned(),
            Self::Unavailable(_) => "unavailable".to_owned(),
            Self::Internal(_) => "internal error".to_owned(),
            Self::Busy(_)
            | Self::TimedOut(_)
            | Self::Memory(_)
            | Self::Stack
            | Self::OutOfBounds
            | Self::TooLarge
            | Self::Handles
            | Self::Exited
            | Self::Host => self.to_string(),
        }
    }
}

/// The reason why a module is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The module is larger than is accepted.
    #[error("the module has {0} bytes: at most {MODULE_BYTES} are accepted")]
    TooLarge(usize),
    /// The bytes are not a component.
    #[error("not a component: {0}")]
    NotAComponent(String),
    /// A part of the component exceeds a limit of [`crate::StructureLimits`]; the text names both.
    #[error("{0}")]
    Structure(String),
    /// The component is faulty, or needs more than an instance may have.
    #[error("the module cannot be compiled: {0}")]
    Compile(String),
    /// The compiler reached its limit of memory, in bytes.
    #[error("its compilation takes more than {} MiB of memory", .0 >> 20)]
    Memory(u64),
    /// The compiler reached its limit of processor time.
    #[error("its compilation takes more than {} s of processor time", .0.as_secs())]
    ProcessorTime(Duration),
    /// The module has imports that the host does not offer.
    #[error("the module imports what resolvers are not offered: {}", quoted(.0))]
    Imports(Vec<String>),
    /// The exports are not a resolver's.
    #[error("the module does not fit `portcullis:resolver@1.0.0`: {0}")]
    Contract(String),
    /// `describe` failed.
    #[error("`describe` failed: {0}")]
    Describe(CallError),
    /// The descriptor is not valid.
    #[error("`describe` answers {0}")]
    Descriptor(String),
    /// The compilation, or the wait for its turn, took too long.
    #[error("the module was not compiled within {} s", .0.as_secs())]
    Slow(Duration),
    /// Too many modules wait for the compiler.
    #[error("too many modules wait for the compiler")]
    Queue,
    /// The compiler could not be run, or ended in a way that no module should cause.
    #[error("the compiler failed: {0}")]
    Compiler(String),
    /// The host's own fault.
    #[error("the host failed")]
    Host,
}

/// The part of a manifest that does not fit its module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// A key that the module requires is missing.
    #[error("`config` lacks `{0}`, which the module requires")]
    MissingKey(String),
    /// A key that the module does not read.
    #[error("`config` has `{0}`, which the module does not read")]
    UnknownKey(String),
    /// An endpoint that the module calls is not granted.
    #[error("endpoint `{0}`, which the module calls, is not granted")]
    MissingEndpoint(String),
    /// A limit is zero or too high.
    #[error("{0}")]
    Limit(&'static str),
}

impl From<CallError> for LoadError {
    /// Converts the error of a call of `describe`.
    fn from(error: CallError) -> Self {
        match error {
            CallError::Contract(why) => Self::Contract(why),
            error => Self::Describe(error),
        }
    }
}

/// Joins names, each in backticks.
fn quoted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
