//! The cores of the machine, and the limits of loads that follow from them.

use std::time::Duration;

use portcullis_fairness::TurnLimits;

/// Returns the number of cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the limits of plan loads on a machine with `cores`. A load is work of the processor: one tenant gets at most
/// half of the cores, so that the checks of others find a free one, and at most half of the turns. All loads take at most
/// half of the connections to PostgreSQL, which are 16. A load takes milliseconds, so that a thousand of one tenant wait for
/// seconds.
pub(crate) fn load_limits(cores: usize) -> TurnLimits {
    TurnLimits {
        at_once: (2 * cores).clamp(4, 8),
        per_tenant: (cores / 2).clamp(1, 4),
        pending_per_tenant: 1_024,
        wait: Some(Duration::from_secs(5)),
        ..TurnLimits::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_at_most_half_of_the_turns() {
        for (cores, at_once, per_tenant) in [(1, 4, 1), (2, 4, 1), (4, 8, 2), (8, 8, 4), (64, 8, 4)]
        {
            let limits = load_limits(cores);
            assert_eq!((limits.at_once, limits.per_tenant), (at_once, per_tenant), "{cores}");
        }
    }
}
