//! The index of a plan: finds the policies that can apply to a check, by the values of its attributes.
//!
//! Each policy is listed under one of its access paths: by hash for equality and membership, by prefix, or by
//! interval. A list that is still long becomes a nested index by other attributes. Policies without a selective
//! access path are evaluated for every check.

mod access_paths;
mod ages;
mod build;
mod interval;
mod keys;
mod lookup;
mod prefixes;
mod ranges;
mod ranks;

pub(super) use build::build;
pub(super) use lookup::Index;
pub(super) use ranks::{Indexed, Rank, Search};
