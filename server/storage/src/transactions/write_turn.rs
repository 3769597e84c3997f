//! Turns to write.

use std::time::Duration;

/// The right to write for a tenant. The next write of the tenant begins when it is dropped.
pub use portcullis_fairness::Turn as WriteTurn;
use portcullis_fairness::TurnLimits;

/// The writes of one tenant wait for each other before they take a connection or the write lock of the database, so that a
/// tenant with many writes delays only itself. Each waiting request holds its body, which has up to 1 MiB. The wait is as
/// long as for a connection.
pub(crate) const WRITES: TurnLimits = TurnLimits {
    per_tenant: 1,
    pending_per_tenant: 64,
    wait: Some(Duration::from_secs(5)),
    ..TurnLimits::NONE
};
