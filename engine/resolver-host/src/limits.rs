//! The limits of a module and of a call. Each number has its reason.

use std::time::Duration;

pub use portcullis_engine::resolver_contract::{
    Limits, MEMORY_BYTES, MODULE_BYTES, NAME_BYTES, TIMEOUT_MAX,
};

/// The maximum wait for the compilation of a module, and for its turn. 12 MB of JavaScript take 10 s.
pub const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum number of compilations at once, each of another tenant. With two, a tenant whose module takes long
/// leaves a turn for all others.
pub const COMPILATIONS: usize = 2;

/// The maximum number of modules that wait for their compilation, of all tenants. Each may hold 16 MiB.
pub const COMPILATION_QUEUE: usize = 16;

/// The maximum size of compiled code in bytes. It has two to five times the size of its module, and a module of
/// JavaScript or Python has 12 to 16 MB.
pub const CODE_BYTES: usize = 128 << 20;

/// The WebAssembly stack in bytes. Interpreters recurse; 512 KiB is wasmtime's default.
pub const STACK_BYTES: usize = 512 << 10;

/// The maximum number of core instances in a component. A Python guest has 14, and 38 if its WASI is stubbed.
pub const CORE_INSTANCES: u32 = 64;

/// The maximum number of tables in a component.
pub const TABLES: u32 = 16;

/// The maximum number of bytes that a guest may pass to the host at once: an answer, a line of the log, a request.
pub const PASSED_BYTES: usize = 1 << 20;

/// The maximum number of live handles of resources (streams, pollables). A standard library has fewer than ten.
pub const HANDLES: usize = 256;

/// The maximum number of random bytes per request. A seed takes 32.
pub const RANDOM_BYTES: u64 = 4 << 10;

/// The interval at which a running guest yields and checks its deadline.
pub const TICK: Duration = Duration::from_millis(10);

/// The maximum number of kept log lines per call: more than anybody reads in an answer of `explain`.
pub const LOG_LINES: usize = 64;

/// The maximum length in bytes of a log line, and of any other text that a guest chooses.
pub const TEXT_BYTES: usize = 1 << 10;

/// The maximum number of requests per call. Each costs a round trip for which a check waits.
pub const HTTP_REQUESTS: u32 = 8;

/// The maximum size of a response's body in bytes. It is copied into the guest, which has [`MEMORY_BYTES`].
pub const HTTP_BODY_BYTES: usize = 1 << 20;

/// The maximum number of attributes in a namespace.
pub const ATTRIBUTES: usize = 256;

/// The maximum number of configuration keys that a module declares.
pub const CONFIG_KEYS: usize = 64;

/// The maximum number of endpoints that a module declares.
pub const ENDPOINTS: usize = 64;

/// The maximum number of inputs that a module declares. A module that needs more declares all attributes of a kind.
pub const INPUTS: usize = 64;

/// The maximum wait of a call for a free instance. After a longer wait the check would be too late anyway.
pub const SLOT_WAIT: Duration = Duration::from_millis(100);

/// The divisor of a tenant's share of the instances. It keeps slow resolvers of one tenant from starving the others.
pub const SHARE: usize = 4;

/// The timeout of `describe`. Interpreters start slowly.
pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);
