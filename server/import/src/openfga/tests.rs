//! Imported stores answer as OpenFGA does. What cannot be imported is refused by its line.

mod refusals;
mod stores;

use std::path::{Path, PathBuf};

use chrono::DateTime;

use super::store::Store;
use super::tuples;
use super::{Imported, Refusal};
use crate::relations::place::Place;

/// Returns a file of the folder of stores.
fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openfga/tests/stores").join(name)
}

fn import(store: Store) -> Result<Imported, Refusal> {
    super::import(store, DateTime::UNIX_EPOCH)
}
