//! The history of a run: every write and every check, with its times and its outcome.

use std::time::Duration;

/// A rule that the load writes: one subject of one tenant on one resource.
pub(super) const CELLS: usize = 32;
/// The resources over which the rules of a tenant are spread. Each has its own plan.
const RESOURCES: usize = 4;
pub(super) const TENANTS: [&str; 2] = ["north", "south"];

/// A rule of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    /// An index of [`TENANTS`].
    pub(super) tenant: usize,
    pub(super) number: usize,
}

impl Cell {
    /// Both tenants have the same subjects, so that a mix-up of tenants shows.
    pub(super) fn subject(self) -> String {
        format!("user-{}", self.number)
    }

    pub(super) fn resource(self) -> String {
        format!("doc-{}:read", self.number % RESOURCES)
    }
}

/// A running process of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) replica: usize,
    /// The number of its starts before.
    pub(super) restarts: usize,
}

/// A write of one effect. Times are from the begin of the run.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) cell: Cell,
    pub(super) allows: bool,
    pub(super) by: Process,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// The revision of the answer; `None` if nobody knows whether the write counts. Then it is the last one of its cell.
    pub(super) revision: Option<u64>,
}

/// An answered check.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) cell: Cell,
    pub(super) by: Process,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// The revision that the check demanded, or 0.
    pub(super) demanded: u64,
    pub(super) revision: u64,
    pub(super) allowed: bool,
    pub(super) rule: String,
}

/// The commits that an asynchronous failover lost.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    pub(super) tenant: usize,
    /// The last revision that the new primary has.
    pub(super) kept: u64,
    /// Around the failover, no write ran.
    pub(super) at: Duration,
}

/// All that happened in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) writes: Vec<Write>,
    pub(super) checks: Vec<Check>,
    /// The times of checks without a decision.
    pub(super) failed: Vec<Duration>,
    pub(super) losses: Vec<Loss>,
    /// The ids of the rules, by tenant and number.
    pub(super) rules: Vec<Vec<String>>,
}

impl History {
    /// Adds what another thread recorded.
    pub(super) fn add(&mut self, other: Self) {
        self.writes.extend(other.writes);
        self.checks.extend(other.checks);
        self.failed.extend(other.failed);
    }
}
