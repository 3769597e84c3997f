//! The use cases of proposals: applies that wait for a second manager (`docs/semantics.md`, section 10.10).

use std::time::Duration;

use portcullis_auth::Manager;
use portcullis_model::audit::CredentialKind;
use portcullis_model::page::{Listed, Page};
use portcullis_model::proposal::{ProposalRecord, ProposalState};
use portcullis_model::{Authorship, Timestamp};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::encryption::Context;
use portcullis_storage::proposals::ProposedRequest;
use portcullis_storage::{Tx, proposals, service_keys};
use serde_json::Value;
use uuid::Uuid;

const NOT_FOUND: OperationError = OperationError::NotFound("proposal");

/// The time in which somebody must decide a proposal: the content that it was made for changes meanwhile.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most open proposals of a tenant: more than people review in a week.
const MAX_OPEN: i64 = 100;
/// Most bytes of the requests of a tenant's open proposals: four of the largest.
const MAX_OPEN_BYTES: i64 = 32 * 1024 * 1024;
/// The proposals that wait for nobody and are kept to be read. Audit records name all of them.
const MAX_KEPT: i64 = 100;
/// Most bytes of a stored plan. Of a longer one only the numbers are stored.
const MAX_PLAN_BYTES: usize = 256 * 1024;

/// An apply that needs the approval of a second manager.
#[derive(Debug)]
pub struct NewProposal<'n> {
    pub owner: String,
    pub message: Option<String>,
    /// The body of the apply as JSON.
    pub body: &'n str,
    /// The answer to a dry run of the apply.
    pub plan: Value,
    pub fingerprint: String,
}

/// Stores a proposal of the caller.
///
/// # Errors
/// Too many proposals of the tenant are open, or the store failed.
pub async fn propose(
    app: &App,
    caller: &Manager,
    new: NewProposal<'_>,
) -> Result<ProposalRecord, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    // First, so that expired proposals do not count as open.
    proposals::prune(&mut tx, by.at, MAX_KEPT).await?;
    let open = proposals::open(&mut tx).await?;
    let id = app.ids.next(by.at);
    let context = Context::for_proposed_request(caller.tenant(), id);
    let body = app.keys.encrypt(context, new.body.as_bytes())?;
    // The transaction holds the lock of the tenant, so that no other proposal is counted meanwhile.
    let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
    if open.count >= MAX_OPEN || open.bytes.saturating_add(bytes) > MAX_OPEN_BYTES {
        return Err(OperationError::Conflict(format!(
            "at most {MAX_OPEN} proposals with {} MiB together can be open; decide some of them first",
            MAX_OPEN_BYTES / 1024 / 1024
        )));
    }
    let record = ProposalRecord {
        id,
        tenant_id: caller.tenant().to_owned(),
        state: ProposalState::Open,
        owner: new.owner,
        message: new.message,
        fingerprint: new.fingerprint,
        plan: short(new.plan),
        proposed_by: caller.actor().to_owned(),
        key_creator: key_creator(&mut tx, caller).await?,
        proposed_at: by.at,
        expires_at: by.at.after(LIFETIME),
        decided_by: None,
        decided_at: None,
    };
    let request = ProposedRequest { domain: caller.domain().to_owned(), body };
    proposals::insert(&mut tx, &record, &request).await?;
    app.commit(tx).await?;
    Ok(record)
}

/// Lists the proposals of the caller's tenant, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    page: Page,
) -> Result<Listed<ProposalRecord>, OperationError> {
    let Listed { records, more } =
        app.read(caller.tenant(), async |tx| proposals::list(tx, page).await).await?;
    let now = app.clock.now().into();
    Ok(Listed { records: records.into_iter().map(|record| record.at(now)).collect(), more })
}

/// Returns a proposal of the caller's tenant.
///
/// # Errors
/// The tenant has no such proposal, or the store failed.
pub async fn get(app: &App, caller: &Manager, id: Uuid) -> Result<ProposalRecord, OperationError> {
    let record =
        app.read(caller.tenant(), async |tx| proposals::find(tx, id).await?.ok_or(NOT_FOUND));
    Ok(record.await?.at(app.clock.now().into()))
}

/// Returns an open proposal of the caller's tenant that the caller may approve, and the body of its apply.
///
/// # Errors
/// The tenant has no such proposal, it is not open, the caller proposed it, its body cannot be decrypted, or the store
/// failed.
pub(crate) async fn open_request(
    app: &App,
    caller: &Manager,
    id: Uuid,
) -> Result<(ProposalRecord, ProposedRequest), OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let record = find_open(&mut tx, id, app.clock.now().into()).await?;
    let mut request = proposals::request(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    if record.is_of(caller.actor()) {
        let what = "another manager than the one who proposed it must approve a proposal";
        return Err(OperationError::AccessDenied(what.to_owned()));
    }
    let context = Context::for_proposed_request(&record.tenant_id, record.id);
    request.body = app.keys.decrypt(context, &request.body).map_err(|error| {
        OperationError::Conflict(format!("{error}; reject the proposal, and apply again"))
    })?;
    Ok((record, request))
}

/// Refuses a proposal that somebody decided meanwhile.
///
/// # Errors
/// It is not open, or the store failed.
pub(crate) async fn must_be_open(
    tx: &mut Tx,
    proposal: &ProposalRecord,
    now: Timestamp,
) -> Result<(), OperationError> {
    find_open(tx, proposal.id, now).await?;
    Ok(())
}

/// Notes in the transaction of an approved apply that the caller approved it.
///
/// # Errors
/// Somebody decided the proposal meanwhile, or the store failed.
pub(crate) async fn settle(
    tx: &mut Tx,
    proposal: &ProposalRecord,
    caller: &Manager,
    by: &Authorship,
) -> Result<(), OperationError> {
    let record = find_open(tx, proposal.id, by.at).await?;
    let record = decided(record, ProposalState::Approved, caller, by.at);
    Ok(proposals::decide(tx, &record).await?)
}

/// Rejects a proposal. Its proposer may do so, too.
///
/// # Errors
/// The tenant has no such proposal, it is not open, or the store failed.
pub async fn reject(
    app: &App,
    caller: &Manager,
    id: Uuid,
) -> Result<ProposalRecord, OperationError> {
    app.change(caller, async |tx, by| {
        let record = find_open(tx, id, by.at).await?;
        let record = decided(record, ProposalState::Rejected, caller, by.at);
        proposals::decide(tx, &record).await?;
        Ok(record)
    })
    .await
}

/// Returns the open proposal with this id.
async fn find_open(
    tx: &mut Tx,
    id: Uuid,
    now: Timestamp,
) -> Result<ProposalRecord, OperationError> {
    // The row of an expired proposal still says `open`. Only the instant tells.
    let record = proposals::find(tx, id).await?.ok_or(NOT_FOUND)?.at(now);
    match record.state {
        ProposalState::Open => Ok(record),
        state => {
            let what =
                format!("the proposal is {}; nobody can decide it any more", state.into_str());
            Err(OperationError::Conflict(what))
        }
    }
}

fn decided(
    record: ProposalRecord,
    state: ProposalState,
    caller: &Manager,
    at: Timestamp,
) -> ProposalRecord {
    let decided_by = Some(caller.actor().to_owned());
    ProposalRecord { state, decided_by, decided_at: Some(at), ..record }
}

/// Returns the creator of the caller's service key, who must not approve what the key proposes.
///
/// # Errors
/// The key was revoked since it was verified, or the store failed.
async fn key_creator(tx: &mut Tx, caller: &Manager) -> Result<Option<String>, OperationError> {
    let origin = caller.origin();
    if origin.credential != CredentialKind::ServiceKey {
        return Ok(None);
    }
    // No key has the nil id, which stands for a text that is no id.
    let id = origin.key.as_deref().and_then(|key| Uuid::try_parse(key).ok()).unwrap_or_default();
    match service_keys::find(tx, id).await? {
        Some(key) => Ok(Some(key.created_by)),
        None => Err(OperationError::CredentialRefused("the service key is revoked".to_owned())),
    }
}

/// Returns the plan, or only its numbers if it is long.
fn short(plan: Value) -> Value {
    if plan.to_string().len() <= MAX_PLAN_BYTES {
        return plan;
    }
    let counts = plan.get("counts").cloned().unwrap_or_default();
    serde_json::json!({"counts": counts, "changes": null})
}
