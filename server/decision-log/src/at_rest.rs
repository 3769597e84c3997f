//! The sealed record: Parquet files in a folder or a bucket, named by a manifest in the database.

mod archive;
mod cells;
pub(crate) mod chain;
mod column_cells;
mod columns;
mod damaged;
mod excluded;
mod keeper;
mod objects;
mod pages;
mod parts;
mod place;
mod prune;
mod ranges;
mod reader;
mod rewrite;
mod rows;
mod seal;
pub(crate) mod uploads;
mod verify;
mod writer;

pub use archive::{Archive, ArchiveError};
pub use chain::sign_manifest_anew;
pub(crate) use keeper::Keeper;
pub use objects::ObjectError;
pub use place::{BucketPlace, RecordPlace};
pub(crate) use reader::{RestedGroup, RestedPart};
pub use rewrite::Erased;
pub use verify::{RecordFault, Verification};
