//! `cargo bench -p portcullis-server --bench tenants [-- NAME …]`
//!
//! Starts the release server on databases with many tenants, and compares with the bars what it costs to have them
//! (`docs/performance.md`). The names select the groups that contain one of them: `tenants` (100,000 tenants), `rules`
//! (1,000 tenants with 1,000,000 rules) and `cold` (a busy tenant after a restart), each on `sqlite` and `postgres`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a measurement that cannot be made ends the run"
)]

/// The set-up of this binary.
mod setup {
    pub(crate) fn is_saas() -> bool {
        true
    }

    pub(crate) fn is_postgres() -> bool {
        false
    }
}

#[expect(unused_imports, reason = "the black-box tests use all of it")]
#[path = "../support/mod.rs"]
mod support;

#[path = "../http/child.rs"]
mod child;
mod cold;
#[path = "../http/load/mod.rs"]
mod load;
mod place;
mod rules;
mod tenants;

use place::Place;
use portcullis_workloads::report::{Group, Report};

/// The first argument of the process that sends a load.
const LOAD: &str = "load-process";

/// Makes the place of a group; `None` where PostgreSQL is missing.
type MakePlace = fn() -> Option<Place>;
/// Measures a group in its place.
type Measure = fn(&mut Group<'_>, &Place);

fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some(LOAD) {
        load::run();
        return Ok(());
    }
    let mut report = Report::from_args(std::env::args())?;
    let groups: [(&str, MakePlace, Measure); 6] = [
        ("tenants, sqlite", Place::sqlite, tenants::measure),
        ("tenants, postgres", Place::postgres, tenants::measure),
        ("rules, sqlite", Place::sqlite, rules::measure),
        ("rules, postgres", Place::postgres, rules::measure),
        ("cold, sqlite", Place::sqlite, cold::measure),
        ("cold, postgres", Place::postgres, cold::measure),
    ];
    for (name, place, measure) in groups {
        report.group(name, |group| {
            // Where PostgreSQL is missing, `place` has said so.
            if let Some(place) = place() {
                measure(group, &place);
            }
            Ok(())
        })?;
    }
    report.finish()
}
