//! The use cases of the record of decisions (`docs/semantics.md`, section 17).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_auth::{CheckCaller, Manager};
use portcullis_decision_log::{
    ArchiveError, DecisionLog, DecisionPage, FeedRefused, QueryError, ReadLimit,
    RegisteredResources,
};
pub use portcullis_decision_log::{DecisionFeed, FeedItem, Visited};
use portcullis_limits::MemoryAccount;
use portcullis_model::audit::AuditAction;
use portcullis_model::decision::{DecisionRecord, DecisionSelection, ErasedDecisions};
use portcullis_model::decision_stats::{DecisionStats, StatsDimension};
use portcullis_model::page::{Listed, Page};
use portcullis_model::parity::Parity;
use portcullis_model::period::CountPeriod;
pub use portcullis_replay::Reproduction;
use portcullis_replay::{Side, Unreadable};
use portcullis_resolvers::{AnswerSource, Provenance, Report};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::searches::{Awaited, PAGE_TIME, SCAN_TIME};
use portcullis_storage::{Store, StoreError, resources, sessions};
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

pub use super::record_views::DecisionStream;
use super::record_views::RecordView;
use super::recorded_sides::recorded_side;
use crate::decide::explained_checks::{ExplainedCheck, ExplainedRelations};

/// Lists the recorded decisions of the caller's tenant that `selection` selects, newest first. A member who is not a
/// manager sees those about itself. A page ends after [`PAGE_TIME`].
///
/// # Errors
/// The caller may not see decisions about the selected subject, or there is no log.
pub async fn list(
    app: &App,
    caller: &CheckCaller,
    selection: DecisionSelection,
    page: Page,
) -> Result<Visited<Listed<DecisionRecord>>, OperationError> {
    let view = RecordView::of(app, caller);
    let selection = visible(app, caller, selection)?;
    let limit = usize::try_from(page.limit).unwrap_or_default();
    let before = Some(page.after).filter(|after| !after.is_nil());
    let page = DecisionPage { before, limit };
    let may_hold = charge(app, caller.tenant());
    let mut found = scan(app, caller, PAGE_TIME, async move |log, tenant, limit| {
        log.query(tenant, &selection, page, limit.charging(may_hold)).await
    })
    .await?;
    let records = std::mem::take(&mut found.into.records);
    found.into.records = records.into_iter().map(|record| view.show(record)).collect();
    Ok(found)
}

/// Returns a recorded decision of the caller's tenant.
///
/// # Errors
/// The caller sees no decision with this id, or there is no log.
pub async fn find(
    app: &App,
    caller: &CheckCaller,
    id: Uuid,
) -> Result<DecisionRecord, OperationError> {
    let (selection, may_hold) =
        (visible(app, caller, DecisionSelection::default())?, charge(app, caller.tenant()));
    let found = scan(app, caller, SCAN_TIME, async move |log, tenant, limit| {
        log.find(tenant, id, limit.charging(may_hold)).await
    })
    .await?;
    // A decision that the caller may not see is not found: a refusal would tell that it exists.
    match found.into.filter(|record| selection.selects(record)) {
        Some(record) => Ok(RecordView::of(app, caller).show(record)),
        None if found.silent > 0 => Err(OperationError::NotNow(
            "a replica that may have the decision does not answer; try again later".to_owned(),
        )),
        None => Err(OperationError::NotFound("decision")),
    }
}

/// Counts the decisions of the caller's tenant that `selection` selects, in groups by `dimensions`. A member who is not a
/// manager counts those about itself.
///
/// # Errors
/// As for [`list`].
pub async fn stats(
    app: &App,
    caller: &CheckCaller,
    selection: DecisionSelection,
    dimensions: &[StatsDimension],
) -> Result<DecisionStats, OperationError> {
    let selection = visible(app, caller, selection)?;
    let dimensions = dimensions.to_vec();
    let (store, may_hold) = (app.store.clone(), charge(app, caller.tenant()));
    scan(app, caller, SCAN_TIME, async move |log, tenant, limit| {
        let registered = registered(&store, tenant).await?;
        log.stats(tenant, &selection, &dimensions, registered, limit.charging(may_hold)).await
    })
    .await
}

/// Compares the decisions of the caller's tenant that `selection` selects with another system's decisions, in each
/// `period` if there is one. A member who is not a manager compares those about itself.
///
/// # Errors
/// As for [`list`].
pub async fn parity(
    app: &App,
    caller: &CheckCaller,
    selection: DecisionSelection,
    period: Option<CountPeriod>,
) -> Result<Parity, OperationError> {
    let selection = visible(app, caller, selection)?;
    let (store, may_hold) = (app.store.clone(), charge(app, caller.tenant()));
    scan(app, caller, SCAN_TIME, async move |log, tenant, limit| {
        let registered = registered(&store, tenant).await?;
        log.parity(tenant, &selection, period, registered, limit.charging(may_hold)).await
    })
    .await
}

/// Returns the names of all registered resources of `tenant`, whose number its quota bounds. In a turn of the tenant, because
/// there may be many.
async fn registered(store: &Store, tenant: &str) -> Result<RegisteredResources, StoreError> {
    let names = store.read(tenant, async |tx| resources::names(tx, u32::MAX).await).await?;
    Ok(names.into_iter().collect())
}

/// Returns what charges texts of records to the memory for answers of a tenant while it is kept.
pub(crate) fn charge(app: &App, tenant: &str) -> impl FnMut(usize) -> bool + Send + use<> {
    let mut charge = app.limits.answers.charge(MemoryAccount::for_tenant(tenant));
    move |bytes| charge.grow_to(bytes).is_ok()
}

/// Runs `work` on the log and the caller's tenant when it is the turn of the tenant, and of a member who is not a manager, to
/// scan the record. It ends after `time`, and when the caller is gone.
async fn scan<T: Send + 'static>(
    app: &App,
    caller: &CheckCaller,
    time: Duration,
    work: impl AsyncFnOnce(&DecisionLog, &str, ReadLimit) -> Result<T, QueryError> + Send + 'static,
) -> Result<T, OperationError> {
    let (log, tenant) = (log(app)?.clone(), caller.tenant().to_owned());
    let whose = (caller.tenant(), member(app, caller));
    let scanned = app.record_scans.run(whose, async move |awaited: Awaited| {
        let limit = ReadLimit::new(time, move || awaited.check().is_ok());
        work(&log, &tenant, limit).await.map_err(unreadable)
    });
    scanned.await
}

/// Follows the new records of the caller's tenant that `selection` selects. A member who is not a manager sees those
/// about itself.
///
/// # Errors
/// As for [`list`]; there are too many streams.
pub fn follow(
    app: &App,
    caller: &CheckCaller,
    selection: DecisionSelection,
) -> Result<DecisionStream, OperationError> {
    let view = RecordView::of(app, caller);
    let selection = visible(app, caller, selection)?;
    let feed = log(app)?.follow(caller.tenant(), member(app, caller), selection);
    let feed = feed.map_err(|refused: FeedRefused| {
        OperationError::NotNow(format!("{refused}; try again later"))
    })?;
    Ok(DecisionStream::new(feed, view))
}

/// Erases the records of the caller's tenant about `subject`, the deliveries of its denied checks, and its sessions of the
/// console, on every replica. Once it is noted, it goes on without the caller.
///
/// # Errors
/// There is no log, the erasure cannot be noted, or it takes longer than a request may: a repetition tells whether it is done.
pub async fn erase(
    app: &App,
    caller: &Manager,
    subject: &str,
) -> Result<ErasedDecisions, OperationError> {
    let log = log(app)?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    // The name of the person would outlive the records.
    tx.audit(AuditAction::DecisionsErased, caller.tenant());
    sessions::delete_all(&mut tx, subject).await?;
    app.commit(tx).await?;
    let erased = log.erase(caller.tenant(), subject).await.map_err(|error| match error {
        ArchiveError::Stopping(stopping) => stopping.into(),
        ArchiveError::Erasing => OperationError::NotNow(
            "the erasure takes longer than a request may, and goes on; repeat the request to learn whether it is done"
                .to_owned(),
        ),
        ArchiveError::TooManyErasures(most) => OperationError::Conflict(format!(
            "the tenant erased {most} persons, the most that are remembered; one is forgotten two days after the records \
             from before its erasure are gone by `keep`"
        )),
        ArchiveError::Manifest(error) => error.into(),
        error => {
            tracing::error!(%error, "decisions cannot be erased");
            OperationError::NotNow(
                "the place of the recorded decisions cannot be changed, and decisions about the person may be left; try again later"
                    .to_owned(),
            )
        }
    })?;
    Ok(ErasedDecisions::new(erased.records, erased.deliveries, erased.sent))
}

/// A recorded decision with the rules that decided it.
#[derive(Debug)]
pub struct DecidedRecord {
    record: DecisionRecord,
    side: Arc<Side>,
    /// The answers of resolvers, as an explained check reports them.
    resolvers: Vec<Report>,
}

impl DecidedRecord {
    /// Calls `use_it` with the record, everything that its rules considered, and whether they decide so again.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn explained<T>(
        &self,
        use_it: impl FnOnce(&DecisionRecord, ExplainedCheck<'_>, Reproduction) -> T,
    ) -> Result<T, OperationError> {
        let Self { record, side, resolvers } = self;
        // A record has the answers of relations, and no path to them.
        let relations = ExplainedRelations::new();
        let explained =
            portcullis_replay::explain(record, side, |explanation, changes, reproduction| {
                let revision = u64::try_from(record.revision).unwrap_or_default();
                let explained = ExplainedCheck::new(explanation, &relations, changes);
                use_it(record, explained.of_service(revision, resolvers), reproduction)
            });
        explained
            .map_err(|Unreadable| OperationError::Conflict("the record cannot be read".to_owned()))
    }
}

/// Returns a recorded decision of the caller's tenant with the rules of its revision.
///
/// # Errors
/// The caller sees no decision with this id or may not see the policies, or the revision is not kept.
pub async fn find_decided(
    app: &App,
    caller: &CheckCaller,
    id: Uuid,
) -> Result<DecidedRecord, OperationError> {
    let record = find(app, caller, id).await?;
    caller.may_explain(None, &app.manager_roles)?;
    let (own, tenant, revision) = (app.clone(), caller.tenant().to_owned(), record.revision);
    // Rules may take much memory: they are read in a turn, too.
    let whose = (caller.tenant(), member(app, caller));
    let side = app
        .record_scans
        .run(whose, move |_: Awaited| async move { recorded_side(&own, &tenant, revision).await });
    let side = side.await?.ok_or_else(|| {
        OperationError::Conflict(format!(
            "the rules of revision {}, which decided, are not kept any more; ask without `explain`",
            record.revision
        ))
    })?;
    let resolvers = reports(&record);
    Ok(DecidedRecord { record, side, resolvers })
}

/// The answers of a resolver in a record.
#[derive(Deserialize)]
struct Resolved {
    #[serde(default)]
    values: BTreeMap<Box<str>, IgnoredAny>,
    #[serde(default)]
    failed: BTreeMap<Box<str>, Box<str>>,
    source: AnswerSource,
}

fn reports(record: &DecisionRecord) -> Vec<Report> {
    let resolved = record.resolved.as_ref();
    let read = resolved.and_then(|json| serde_json::from_str(json.get()).ok());
    let resolved: BTreeMap<Box<str>, Resolved> = read.unwrap_or_default();
    let reports = resolved.into_iter().map(|(namespace, Resolved { values, failed, source })| {
        let known = values.into_keys().map(|name| Provenance { name, source });
        let cause = failed.values().next().cloned();
        let unknown = failed.into_keys();
        let unknown = unknown.map(|name| Provenance { name, source: AnswerSource::Nowhere });
        let attributes = known.chain(unknown).collect();
        Report { namespace, origin: None, attributes, cause, call: None }
    });
    reports.collect()
}

/// Returns `selection` without what the caller may not see.
///
/// # Errors
/// It selects decisions about a subject that the caller may not see.
pub fn visible(
    app: &App,
    caller: &CheckCaller,
    mut selection: DecisionSelection,
) -> Result<DecisionSelection, OperationError> {
    // Without a subject, a member who is not a manager means itself.
    if selection.subject.is_none() {
        selection.subject = member(app, caller).map(str::to_owned);
    }
    caller.may_search(selection.subject.as_deref(), None, &app.manager_roles)?;
    Ok(selection)
}

/// Returns the subject of a member who is not a manager; `None` for any other caller.
fn member<'c>(app: &App, caller: &'c CheckCaller) -> Option<&'c str> {
    let is_member = caller.may_search(None, None, &app.manager_roles).is_err();
    caller.subject().filter(|_| is_member)
}

/// Returns the log of decisions.
///
/// # Errors
/// The operator keeps none.
pub fn log(app: &App) -> Result<&DecisionLog, OperationError> {
    let recorder = app.recorder.as_ref();
    recorder.map(|recorder| recorder.log()).ok_or_else(|| {
        OperationError::Conflict(
            "the service keeps no record of decisions: the operator sets `DECISION_LOG_URL`"
                .to_owned(),
        )
    })
}

/// Returns the error of a query.
pub(crate) fn unreadable(error: QueryError) -> OperationError {
    match error {
        QueryError::Stopping(stopping) => stopping.into(),
        QueryError::NoRoom => OperationError::no_room_for_answer(),
        QueryError::Busy(_) => OperationError::NotNow(
            "too many questions for decisions of this tenant wait; try again later".to_owned(),
        ),
        QueryError::Read(error) => {
            tracing::error!(%error, "decisions cannot be read");
            OperationError::NotNow(
                "the place of the recorded decisions cannot be read; try again later".to_owned(),
            )
        }
        QueryError::Manifest(error) => error.into(),
    }
}
