//! Measured costs, and the bounds that they must keep.

use std::fmt;
use std::time::Duration;

use crate::support::Server;

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
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id()))
        .expect("the server runs");
    let field = |name: &str| -> f64 {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a field of proc(5)");
        let kib: f64 = line.split_whitespace().nth(1).expect("a number").parse().expect("KiB");
        kib / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Returns the CPU time that the server has used, in user and kernel mode.
pub(crate) fn cpu(server: &Server) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.process.id()))
        .expect("the server runs");
    // The name of the program, in parentheses, may contain spaces. User and system time are fields 14 and 15 of proc(5).
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<u64>().expect("clock ticks"))
        .sum();
    // Linux reports 100 ticks per second to user space.
    Duration::from_millis(ticks * 10)
}
