//! Which policies can apply to a check, found by the values of its attributes.
//!
//! Each policy stands behind one of its gates: in a list that is found by the value of the gate's attribute, by
//! hash for equality and membership, by prefix, or by interval. A list that is still long is an index itself,
//! by other attributes. What has no gate that tells it apart is always tried.

mod build;
mod gates;
mod lookup;
mod prefixes;
mod ranges;
mod ranks;

pub(super) use build::build;
pub(super) use lookup::{Index, Search};
pub(super) use ranks::{Indexed, Rank};
