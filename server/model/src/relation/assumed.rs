//! Tuples that a request assumes: they count beside the stored ones in its decision (`docs/semantics.md`, section 12.12).

use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};

use super::bodies::MAX_TUPLES;
use super::new_tuple::NewTuple;
use crate::fields::at_most;

/// Most assumed tuples of a check.
pub const MAX_ASSUMED: usize = 100;
/// Most assumed tuples of all checks of a batch.
const MAX_ASSUMED_OF_ALL: usize = 10_000;

/// The member of a body that has assumed tuples.
pub const RELATIONS: &str = "relations";

/// The tuples that one check assumes, or that many checks share.
#[derive(Clone, Debug, Default)]
pub struct AssumedTuples {
    pub tuples: Vec<NewTuple>,
    /// The JSON pointer of the list in its request.
    pub at: String,
}

impl AssumedTuples {
    /// Reads the list of a check at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Self::read_at_most(MAX_ASSUMED, json, at, problems)
    }

    /// Reads the list of a check beside its other members.
    pub fn read_beside(fields: &mut Fields<'_, '_>) -> Option<Self> {
        fields.optional(RELATIONS, Self::read)
    }

    /// Reads the list of an explained check beside its other members.
    pub(crate) fn read_to_explain(fields: &mut Fields<'_, '_>) -> Option<Self> {
        fields.optional(RELATIONS, |json, at, problems| {
            Self::read_at_most(MAX_TUPLES, json, at, problems)
        })
    }

    fn read_at_most(
        most: usize,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let tuples = at_most(most, "tuples", NewTuple::read)(json, at, problems)?;
        Some(Self { tuples, at: at.to_string() })
    }

    /// Refuses the lists of a batch if they have too many tuples together. A list that many checks share counts once.
    ///
    /// # Errors
    /// The fault, at the list that has the first tuple too many.
    pub fn must_be_few(lists: &[Self]) -> Result<(), Invalid> {
        let mut left = MAX_ASSUMED_OF_ALL;
        for list in lists {
            let rest = left.checked_sub(list.tuples.len());
            left = rest.ok_or_else(|| {
                let what =
                    format!("at most {MAX_ASSUMED_OF_ALL} tuples in all `relations` together");
                Invalid::expected(&list.at, what)
            })?;
        }
        Ok(())
    }
}
