//! Compares the engine of Portcullis, hand-written code, and other engines on the workloads, in turns.
//!
//! `cargo bench -p portcullis-peers -- [GROUP]… [--json FILE]`. Every timed decision was verified before.

mod change;
mod decisions;
#[path = "../../../../engine/directory/benches/relations/drive.rs"]
#[expect(dead_code, reason = "the benchmarks of relations use all of it")]
mod drive;
mod memory;
#[path = "../../../../engine/benches/decisions/ours.rs"]
#[expect(dead_code, reason = "the engine's own benchmarks use all of it")]
mod ours;
mod relations;
mod zanzibar;

use anyhow::Result;
use portcullis_peers::{Cached, Casbin, Cedar, Interpreted, Machine, Peer, Plain, Rego, Slice};
use portcullis_workloads::Workload;
use portcullis_workloads::report::Report;

fn main() -> Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("w1 w2", decisions::rules)?;
    report.group("w3", decisions::policies)?;
    report.group("w4", decisions::both)?;
    report.group("w5", decisions::texts)?;
    report.group("relations", relations::relations)?;
    report.group("change", change::change)?;
    report.group("memory", memory::memory)?;
    report.finish()
}

/// Loads a workload into a peer.
type Load = fn(&Workload) -> Result<Box<dyn Peer>>;

/// The peers, by name.
const PEERS: [(&str, Load); 5] = [
    ("regorus interpreted", |workload| Ok(Box::new(Rego::<Interpreted>::load(workload)?))),
    ("regorus compiled", |workload| Ok(Box::new(Rego::<Machine>::load(workload)?))),
    ("Cedar", |workload| Ok(Box::new(Cedar::load(workload, Slice::Resource)?))),
    ("casbin", |workload| Ok(Box::new(Casbin::<Plain>::load(workload)?))),
    ("casbin cached hit", |workload| Ok(Box::new(Casbin::<Cached>::load(workload)?))),
];
