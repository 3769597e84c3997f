//! The query parameter `force` of writes that may meet a managed record (`docs/semantics.md`, section 10.5).

use crate::error::ApiError;
use crate::query::{QueryParameters, QueryReader};

/// Whether a managed record is changed too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Force(pub(crate) bool);

impl QueryParameters for Force {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "Whether a managed record is changed too; a service key needs `policies:force`";
        query.flag("force", about).map(Self)
    }
}
