//! What a module and a call may take. Each number has its reason.

use std::time::Duration;

pub use portcullis_engine::resolver_contract::{
    Limits, MEMORY_BYTES, MODULE_BYTES, NAME_BYTES, TIMEOUT_MAX,
};

/// How long loading a module waits for its compilation. 12 MB of JavaScript take 10 s.
pub const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// Wasm's stack. Interpreters recurse; 512 KiB is what wasmtime itself allows by default.
pub const STACK_BYTES: usize = 512 << 10;

/// Core instances of a component. A Python guest has 14, and 38 when its WASI is stubbed.
pub const CORE_INSTANCES: u32 = 64;

/// Tables of a component.
pub const TABLES: u32 = 16;

/// Bytes that a guest may pass to the host at once: its answer, a line of its log, a request that it sends.
pub const PASSED_BYTES: usize = 1 << 20;

/// Handles of resources (streams, pollables) that are alive at once. A standard library holds fewer than ten.
pub const HANDLES: usize = 256;

/// Random bytes that are given at once. A seed takes 32.
pub const RANDOM_BYTES: u64 = 4 << 10;

/// How often a running guest looks at its deadline, and others get their turn.
pub const TICK: Duration = Duration::from_millis(10);

/// Lines of the log that are kept of a call: more than anybody reads in an answer of `explain`.
pub const LOG_LINES: usize = 64;

/// Bytes that are kept of a line, or of any other text that a guest makes up.
pub const TEXT_BYTES: usize = 1 << 10;

/// Requests that a call may send. Each costs a round trip, and a check waits for them.
pub const HTTP_REQUESTS: u32 = 8;

/// Bytes of a response's body. It is copied into the guest, which has [`MEMORY_BYTES`].
pub const HTTP_BODY_BYTES: usize = 1 << 20;

/// Attributes of a namespace.
pub const ATTRIBUTES: usize = 256;

/// Keys of the configuration that a module reads.
pub const CONFIG_KEYS: usize = 64;

/// Endpoints that a module calls.
pub const ENDPOINTS: usize = 64;

/// Inputs that a module declares. One that needs more takes all attributes of a kind.
pub const INPUTS: usize = 64;

/// How long a call waits for an instance to become free. Longer, and the check would be late in any case.
pub const SLOT_WAIT: Duration = Duration::from_millis(100);

/// A tenant may use one in so many of the instances, so that slow resolvers of one do not starve those of the others.
pub const SHARE: usize = 4;

/// How long `describe` may take. Interpreters start slowly.
pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);
