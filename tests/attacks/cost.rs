//! Measured costs, and the bounds that they must keep.

use std::fmt;
use std::time::Duration;

use crate::support::{Server, costs};

/// A measured cost and its bound.
pub(crate) struct Figure {
    what: &'static str,
    measured: f64,
    bound: f64,
    unit: &'static str,
}

impl Figure {
    /// Memory, in MiB.
    pub(crate) fn mib(what: &'static str, measured: f64, bound: f64) -> Self {
        Self { what, measured, bound, unit: "MiB" }
    }

    /// A number of bytes, shown in KiB.
    pub(crate) fn kib(what: &'static str, bytes: usize, bound: f64) -> Self {
        Self { what, measured: bytes as f64 / 1024.0, bound, unit: "KiB" }
    }

    /// A time, shown in milliseconds.
    pub(crate) fn time(what: &'static str, measured: Duration, bound: Duration) -> Self {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        Self { what, measured: millis(measured), bound: millis(bound), unit: "ms" }
    }

    /// A number of things.
    pub(crate) fn count(what: &'static str, measured: usize, bound: usize) -> Self {
        Self { what, measured: measured as f64, bound: bound as f64, unit: "" }
    }

    /// Whether the cost keeps its bound.
    pub(crate) fn holds(&self) -> bool {
        self.measured <= self.bound
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, measured, bound, unit } = self;
        let (bound, measured) = (shown(*bound), shown(*measured));
        write!(f, "{what} | ≤ {bound} {unit} | {measured} {unit}")
    }
}

fn shown(value: f64) -> String {
    if value < 10.0 && value.fract() != 0.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Returns the memory of the server, in MiB: what it holds now, and the most that it ever held.
pub(crate) fn memory(server: &Server) -> (f64, f64) {
    let field = |name: &str| mib(server.process.id(), name).expect("the server runs");
    (field("VmRSS:"), field("VmHWM:"))
}

/// Returns a field of `/proc/<process>/status`, in MiB; `None` if the process has ended.
pub(crate) fn mib(process: u32, field: &str) -> Option<f64> {
    costs::memory(process, field).map(|kib| kib as f64 / 1024.0)
}

/// Returns the CPU time that the server has used, in user and kernel mode.
pub(crate) fn cpu(server: &Server) -> Duration {
    costs::cpu_time(server.process.id())
}
