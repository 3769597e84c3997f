//! The part of each kind of records in an apply.

use std::collections::{HashMap, HashSet};

use futures_util::{StreamExt, stream};
use portcullis_bundle::BundleDocument;
use portcullis_engine::invalid::Problems;
use portcullis_model::apply::FieldChange;
use portcullis_model::{Authorship, SignedRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Records, StoreError, Tx};

use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::writes::Writes;
use crate::content::kinds::{ContentRecord, RecordKey};
use crate::content::tenant_content::{ListedRecord, TenantContent};

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
pub(super) trait AppliedRecord: ListedRecord + SignedRecord + 'static {
    /// Whether the digest of a plan has a part for the kind where nothing was read. Versions without the kind have none: the
    /// plans that they made stay fresh.
    const HAS_EMPTY_PART: bool = false;
    /// Whether a record that comes back is one that nobody has changed, as a new one is.
    const COMES_BACK_UNSIGNED: bool = false;

    /// Returns the writes that make the records of the owner those of the bundle; none if the bundle lacks the kind.
    ///
    /// # Errors
    /// The tenant would have too many.
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        problems: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError>;

    /// Returns the names of the records that the bundle names; none if a record has no name of its own.
    fn named_in(_: &BundleDocument) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the names of further records on which the meaning of the bundle depends; none for most kinds.
    fn used_by(_: &TenantContent, _: &BundleDocument) -> HashSet<String> {
        HashSet::new()
    }

    /// Returns the records that a plan depends on: those of the owner, those that the bundle names, and those that it uses.
    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _domain: &str,
    ) -> Vec<&'s Self> {
        let used = Self::used_by(state, bundle);
        let names: HashSet<&str> =
            Self::named_in(bundle).into_iter().chain(used.iter().map(String::as_str)).collect();
        let is_read = |one: &&Self| {
            owner.is_none() || one.managed_by() == owner || names.contains(&*one.name())
        };
        Self::listed(state).iter().filter(is_read).collect()
    }

    /// Returns the record as a bundle of a tenant with this domain writes it.
    fn content(&self, domain: &str) -> Content;

    /// Returns what a plan shows of the change to `new`.
    fn changes(&self, new: &Self, domain: &str) -> Vec<FieldChange> {
        self.content(domain).changes(&new.content(domain))
    }

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
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let (present, past) = (Self::listed(present), Self::listed(past));
        let mut writes = writes_back(present, past, |one: Self| one.signed(by));
        for write in &mut writes {
            if let (RecordWrite::Insert(new), true) = (write, Self::COMES_BACK_UNSIGNED) {
                *new = new.clone().unsigned();
            }
        }
        Ok(writes)
    }

    /// Writes what was planned, with the audit records and events of each change.
    fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> impl Future<Output = Result<(), OperationError>> + Send;
}

/// Returns the writes that make `present` `past`. `signed` returns a record with the author and time of the change; records
/// that differ in nothing else are equal.
pub(super) fn writes_back<R: ContentRecord>(
    present: &[R],
    past: &[R],
    signed: impl Fn(R) -> R,
) -> Vec<RecordWrite<R>> {
    let stored: HashMap<RecordKey<'_>, &R> =
        present.iter().map(|record| (record.key(), record)).collect();
    let wanted: HashSet<RecordKey<'_>> = past.iter().map(ContentRecord::key).collect();
    // What goes comes first: what is written may have its name.
    let gone = present.iter().filter(|record| !wanted.contains(&record.key()));
    let gone = gone.map(|record| RecordWrite::Delete(record.clone()));
    let written = past.iter().filter_map(|record| {
        let Some(old) = stored.get(&record.key()) else {
            return Some(RecordWrite::Insert(record.clone()));
        };
        let (old, new) = ((*old).clone(), signed(record.clone()));
        (signed(old.clone()) != new).then_some(RecordWrite::Update { old, new })
    });
    gone.chain(written).collect()
}
