//! The reasons why there is no plan of rows.

use portcullis_engine::filter::InexactPolicy;

/// The reason why there is no plan of rows.
#[derive(Debug)]
pub enum FilterRefusal {
    /// These policies have no exact form.
    NotExact(Vec<InexactPolicy>),
    /// The condition is larger than an answer may be.
    TooLarge,
    /// A relation has too many objects, for this reason.
    TooManyObjects(String),
}
