//! The workloads of all measurements: plain data, generated from a seed, independent of any engine.
//!
//! | | |
//! |---|---|
//! | W1 | 100 RBAC rules, 10 roles |
//! | W2 | 10,000 or 100,000 RBAC rules over 1,000 resources |
//! | W3 | 1 to 10,000 policies on one resource, each an AND of three tests; about 0.1 % match a request |
//! | W4 | 5,000 rules and 5,000 policies over 100 resources, 10 priorities, a fifth denies |
//! | W5 | the JSON text of W2's and W4's requests |
//!
//! Each request has its right decision. `reference.rs` finds it slowly and plainly, by reading every rule. [`limit`] finds
//! it as fast as hand-written code can; engines are compared with it.

pub mod limit;
pub mod measure;
mod model;
pub mod plain_request;
mod policies;
mod rbac;
mod reference;
pub mod report;
pub mod tenants;
pub mod vocabulary;

pub use model::{
    Conditions, DOMAIN, SampleAttribute, SamplePolicy, SampleRequest, SampleRule, Workload,
};
pub use policies::{w3, w4, w4_over};
pub use rbac::{w1, w2};

/// The sizes of W2, in rules.
pub const W2_SIZES: [usize; 2] = [10_000, 100_000];
/// The resources of W2.
pub const W2_RESOURCES: usize = 1_000;
/// The sizes of W3, in policies.
pub const W3_SIZES: [usize; 5] = [1, 10, 100, 1_000, 10_000];
/// The number of requests in a workload: too many for a branch predictor to learn.
pub const REQUESTS: usize = 1_024;
