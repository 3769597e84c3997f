//! `portcullis export`, `plan`, `apply` and `drift`: keep the content of a tenant in files, and apply it to a running
//! service (`docs/policies-as-code.md`).

mod answer;
mod apply;
mod arguments;
mod drift;
mod export;
mod import;
mod lines;
mod modules;
mod plan;
mod plan_file;
mod recorded;
pub(crate) mod replayed;
mod request;
mod unowned;
mod upload;

pub use apply::{ApplyArguments, run as apply};
pub use arguments::owner;
pub use drift::{DriftArguments, run as drift};
pub use export::{ExportArguments, run as export};
pub use import::{Import, import, import_with_tuples};
pub use plan::{PlanArguments, run as plan};

pub(crate) use replayed::{Replay, deciding_content};

#[cfg(test)]
mod tests;
