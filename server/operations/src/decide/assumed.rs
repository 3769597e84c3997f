//! The tuples that a request assumes (`docs/semantics.md`, section 12.12): who may send them, and the entities with them.

use std::sync::Arc;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Plan};
use portcullis_model::relation::{AssumedTuples, NewTuple};
use portcullis_runtime::app::App;
use portcullis_runtime::entity_tables::LoadedEntities;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::PlanError;

use crate::people::directory::NeededEntities;

/// The tuples that one check assumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assumed<'a> {
    pub tuples: &'a [NewTuple],
    /// The JSON pointer of the list in its request.
    pub at: &'a str,
}

impl<'a> From<&'a AssumedTuples> for Assumed<'a> {
    fn from(AssumedTuples { tuples, at }: &'a AssumedTuples) -> Self {
        Self { tuples, at }
    }
}

impl NeededEntities {
    /// Returns the entities of the tenant of `plan` with further tuples, for one check. Loads them if necessary.
    ///
    /// # Errors
    /// No type has relations, or they do not allow a tuple; the errors of [`Self::load_all`].
    pub(crate) async fn assuming(
        app: &App,
        tenant: &str,
        plan: &Plan,
        assumed: Assumed<'_>,
    ) -> Result<Self, OperationError> {
        let stored = Self::load_all(app, tenant, plan).await.map_err(PlanError::from)?;
        stored.with(plan, assumed)
    }

    /// Returns these entities with further tuples, for one check or for checks that assume the same.
    ///
    /// # Errors
    /// No type has relations, or they do not allow a tuple.
    pub(crate) fn with(&self, plan: &Plan, assumed: Assumed<'_>) -> Result<Self, OperationError> {
        let (loaded, declared) = self.related(plan, assumed)?;
        let (mut problems, root) = (Problems::default(), Place::root());
        let with = loaded.assuming(declared, assumed.tuples, &root, &mut problems);
        let with = problems.finish(with.map_err(PlanError::from)?);
        let with = with.map_err(|invalid| invalid.under(assumed.at))?;
        Ok(Self::Loaded(Arc::new(with)))
    }

    /// Refuses tuples that the types do not allow.
    ///
    /// # Errors
    /// Those of [`Self::with`].
    pub(crate) fn must_allow(
        &self,
        plan: &Plan,
        assumed: Assumed<'_>,
    ) -> Result<(), OperationError> {
        if assumed.tuples.is_empty() {
            return Ok(());
        }
        let (loaded, declared) = self.related(plan, assumed)?;
        let (mut problems, root) = (Problems::default(), Place::root());
        let noted = loaded.note_forbidden(declared, assumed.tuples, &root, &mut problems);
        noted.map_err(PlanError::from)?;
        let allowed = problems.finish(Some(()));
        Ok(allowed.map_err(|invalid| invalid.under(assumed.at))?)
    }

    /// Returns the entities, and the types with relations of the tenant of `plan`.
    fn related<'e>(
        &'e self,
        plan: &'e Plan,
        assumed: Assumed<'_>,
    ) -> Result<(&'e LoadedEntities, &'e Arc<str>), OperationError> {
        let declared = plan.facts().and_then(|facts| facts.relations.as_ref());
        match (self, declared) {
            (Self::Loaded(loaded), Some(declared)) => Ok((loaded, declared)),
            _ => Err(Invalid::expected(assumed.at, "no tuples: no type has relations").into()),
        }
    }
}
