//! The record of decisions beside its files: where they are, what is uploaded, erased and asked of other replicas.

pub mod decision_erasures;
pub mod decision_files;
pub mod decision_uploads;
pub mod denied_persons;
pub mod record_answers;
