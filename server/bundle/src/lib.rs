//! A tenant as files: sample users, resources, rules and policies, and cases that say what they decide.
//!
//! `policies/README.md` explains the format. `portcullis test` runs the cases of such a folder;
//! `portcullis dev` serves the tenants of the repository's `policies` folder, which is part of the binary.

mod bundle;
mod canonical;
mod case_outcomes;
mod case_set;
mod cases;
mod conditions;
mod content;
mod datetime_values;
mod document;
mod embedded;
mod entities;
mod error;
mod exported_content;
mod files;
mod folder_file;
mod folder_files;
mod folder_questions;
mod form;
mod given_answers;
mod item_files;
mod kinds;
mod list_files;
pub mod matrix;
mod named_conditions;
mod policies;
mod positions;
mod registry;
mod resolver_files;
mod resolver_secrets;
mod resolvers;
mod responses;
mod roles;
mod rulebook;
mod skip_cause;
mod sources;
mod strays;
mod sufficient_tuples;
mod types;
mod unique;
mod users;
mod verdict;
mod yaml;
mod yaml_document;
mod yaml_scalar;
mod yaml_writer;

pub use bundle::{Bundle, SecretUse};
pub use case_outcomes::{CaseFailure, CaseOutcomes, UnjudgedCase};
pub use case_set::{CaseSet, MAX_CASE_BYTES, MAX_CASE_USERS, MAX_CASES};
pub use cases::{Case, Expected};
pub use conditions::{FORMAT_WIDTH, WithWhen, condition_files, format_conditions, write_as_when};
pub use content::{ModuleContent, SecretValues};
pub use datetime_values::DatetimeValues;
pub use document::{BundleDocument, DocumentContext, SentPolicy, SentText, describe};
pub use embedded::embedded_resolver_file;
pub use error::BundleError;
pub use exported_content::ExportedContent;
pub use folder_file::{ExportError, FolderFile};
pub use folder_files::folder_files;
pub use folder_questions::{FolderFacts, FolderQuestion, explained, look_up};
pub use form::Form;
pub use given_answers::GivenAnswers;
pub use item_files::{ItemKind, ItemPlaces, SourceFile};
pub use kinds::{SCHEMAS, list_folders};
pub use policies::check_attributes;
pub use registry::{ItemWarning, RegisteredNames};
pub use resolvers::{DESCRIPTOR_FILE, ResponsesByNamespace, SampleResolver};
pub use responses::{CannedResponse, CannedResponses};
pub use rulebook::{Rulebook, check_subject};
pub use skip_cause::SkipCause;
pub use strays::StrayFile;
pub use users::{SampleUser, TENANT_FILE};
pub use verdict::{CaseVerdict, DEFAULT_NOW, UndeterminedPolicy, rests_on};

#[cfg(test)]
mod folder_tests;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod warning_tests;
#[cfg(test)]
mod writer_tests;
