//! Entity tags (RFC 9110, section 8.8.3). A client that read a record can make its change depend on the fact that
//! nobody changed the record since.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis_runtime::error::OperationError;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Characters of a tag between its quotes: 132 bits of a hash.
const TAG_CHARS: usize = 22;

/// Returns the entity tag of `record`, in quotes. It changes with every change of the record.
pub fn entity_tag(record: &impl Serialize) -> String {
    let text = serde_json::to_vec(record).unwrap_or_default();
    format!("\"{}\"", &URL_SAFE_NO_PAD.encode(Sha256::digest(text))[..TAG_CHARS])
}

/// The condition under which a client wants a record written (RFC 9110, section 13.1).
#[derive(Clone, Debug, Default)]
pub enum Precondition {
    /// The client sent no condition: every state of the record is accepted.
    #[default]
    None,
    /// The record must have one of these tags; `*` stands for every tag.
    OneOf(Vec<String>),
    /// There must be no record yet.
    Absent,
}

impl Precondition {
    /// Checks that `record` is in a state that the client accepts.
    ///
    /// # Errors
    /// [`OperationError::PreconditionFailed`]
    pub fn check(&self, record: &impl Serialize) -> Result<(), OperationError> {
        self.check_stored(Some(record))
    }

    /// Checks as [`Self::check`] does, where the record may not exist. It has no tag then.
    ///
    /// # Errors
    /// [`OperationError::PreconditionFailed`]
    pub fn check_stored(&self, record: Option<&impl Serialize>) -> Result<(), OperationError> {
        self.check_tag(record.map(entity_tag).as_deref())
    }

    /// Checks as [`Self::check`] does, by the tag of what is there, if anything is.
    ///
    /// # Errors
    /// [`OperationError::PreconditionFailed`]
    pub fn check_tag(&self, own: Option<&str>) -> Result<(), OperationError> {
        let holds = match self {
            Self::None => true,
            Self::Absent => own.is_none(),
            Self::OneOf(tags) => {
                own.is_some_and(|own| tags.iter().any(|tag| tag == "*" || tag == own))
            }
        };
        if holds { Ok(()) } else { Err(OperationError::PreconditionFailed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precondition_accepts_the_tags_that_it_names() {
        let own = entity_tag(&["a record"]);
        let other = entity_tag(&["another record"]);
        let one_of =
            |tags: &[&str]| Precondition::OneOf(tags.iter().map(|tag| (*tag).to_owned()).collect());
        for (precondition, accepted) in [
            (Precondition::None, true),
            (one_of(&[&own]), true),
            (one_of(&[&other, &own]), true),
            (one_of(&["*"]), true),
            (one_of(&[&other]), false),
            (one_of(&[]), false),
            (Precondition::Absent, false),
        ] {
            assert_eq!(precondition.check(&["a record"]).is_ok(), accepted, "{precondition:?}");
            let needs_record = matches!(precondition, Precondition::OneOf(_));
            let absent = precondition.check_stored(None::<&String>).is_ok();
            assert_eq!(absent, !needs_record, "{precondition:?}");
        }
    }
}
