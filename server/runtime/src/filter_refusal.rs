//! The reasons why there is no plan of rows.

use std::collections::BTreeSet;

use portcullis_engine::filter::InexactPolicy;

/// The reason why there is no plan of rows.
#[derive(Debug)]
pub enum FilterRefusal {
    /// These policies have no exact form.
    NotExact(Vec<InexactPolicy>),
    /// Some policy has no exact form, for these reasons. The caller may not see which.
    NotExactFor(BTreeSet<String>),
    /// The condition is larger than an answer may be.
    TooLarge,
    /// A relation has too many objects, for this reason.
    TooManyObjects(String),
}
