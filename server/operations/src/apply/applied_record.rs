//! The part of each kind of records in an apply.

use futures_util::{StreamExt, stream};
use portcullis_bundle::BundleDocument;
use portcullis_engine::invalid::Problems;
use portcullis_model::Authorship;
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Records, StoreError, Tx};

use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::writes::Writes;
use crate::content::kinds::ContentRecord;
use crate::content::tenant_content::TenantContent;

/// The facts from which the writes of a kind are planned.
#[derive(Clone, Copy)]
pub(super) struct Planning<'p> {
    pub(super) state: &'p TenantContent,
    pub(super) bundle: &'p BundleDocument,
    pub(super) context: &'p PlanContext<'p>,
    /// The writes of the kinds before.
    pub(super) before: &'p Writes,
}

/// A record that an apply writes.
pub(super) trait AppliedRecord: ContentRecord + 'static {
    /// Whether the digest of a plan has a part for the kind where nothing was read. Versions without the kind have none: the
    /// plans that they made stay fresh.
    const HAS_EMPTY_PART: bool = false;

    /// Returns the writes that make the records of the owner those of the bundle; none if the bundle lacks the kind.
    ///
    /// # Errors
    /// The tenant would have too many.
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        problems: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError>;

    /// Returns the records that a plan depends on: those of the owner, and those that the bundle names.
    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        domain: &str,
    ) -> Vec<&'s Self>;

    /// Returns the record as a bundle of a tenant with this domain writes it.
    fn content(&self, domain: &str) -> Content;

    /// Reads the records of `owner`, or all without one, in the order of their names.
    fn exported<'t>(
        tx: &'t mut Tx,
        owner: Option<&'t str>,
    ) -> impl Future<Output = Result<Records<'t, Self>, StoreError>> + Send {
        async move {
            let mut records = Self::all(tx).await?;
            records.retain(|record| owner.is_none() || record.managed_by() == owner);
            records.sort_by(|a, b| a.name().cmp(&b.name()));
            Ok(stream::iter(records.into_iter().map(Ok)).boxed())
        }
    }

    /// Returns the writes that make the records of `present` those of `past`, with their keys.
    ///
    /// # Errors
    /// A record cannot come back.
    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError>;

    /// Writes what was planned, with the audit records and events of each change.
    fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> impl Future<Output = Result<(), OperationError>> + Send;
}
