//! Applies the content of an import, and syncs its tuples.

use anyhow::Context;
use portcullis_engine::Json;
use portcullis_model::relation::MAX_TUPLES;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::apply::report;
use super::request::SentApply;
use super::upload::{Planned, apply_content};
use crate::service::Service;

/// The terms of an import.
#[derive(Clone, Copy, Debug)]
pub struct Import<'i> {
    /// The owner of the objects, and the source of the tuples.
    pub owner: &'i str,
    /// Whether any number of objects and of tuples may go.
    pub allow_deletes: bool,
}

impl Import<'_> {
    fn request(&self) -> SentApply<'_> {
        let allow_deletes = self.allow_deletes;
        SentApply { owner: self.owner, allow_deletes, is_import: true, ..SentApply::default() }
    }
}

/// Replaces the objects of the owner with the objects of `content`, and returns the report of what changed.
///
/// # Errors
/// The service refuses the content, and stores none of it then, or gives no answer.
pub async fn import(
    service: &Service,
    import: &Import<'_>,
    content: Json<'static>,
) -> anyhow::Result<String> {
    let Planned { answer, .. } = apply_content(service, &import.request(), content).await?;
    Ok(report(import.owner, &answer))
}

/// Does as [`import()`] does, and replaces the tuples of the source `owner` with `tuples`. Tuples of the source that the types do
/// not allow any more go with the types, in the same call. The others that `tuples` lacks go with the last part of the sync.
///
/// # Errors
/// The service refuses the content, which changes nothing; or a part of the tuples; or it gives no answer.
pub async fn import_with_tuples<T: Serialize>(
    service: &Service,
    import: &Import<'_>,
    content: Json<'static>,
    tuples: &[T],
) -> anyhow::Result<String> {
    let request = SentApply { delete_tuples: true, ..import.request() };
    let Planned { answer, .. } = apply_content(service, &request, content).await?;
    let applied = report(import.owner, &answer);
    if answer.proposal.is_some() {
        let waits = "relations: not sent, because the types wait for approval; import again then";
        return Ok(format!("{applied}{waits}\n"));
    }
    let synced = sync_tuples(service, import, tuples, answer.deleted_tuples).await;
    let synced = synced.with_context(|| {
        let gone = answer.deleted_tuples;
        format!("{applied}types, rules and policies are imported, and {gone} tuples that the types do not allow any more are deleted; the other tuples are not: import again")
    })?;
    Ok(applied + &synced)
}

/// The counts of a part of a sync.
#[derive(Default, Deserialize)]
struct SyncedPart {
    written: u64,
    unchanged: u64,
    deleted: u64,
    sync: Option<String>,
}

/// Replaces the tuples of the source with `tuples`, and returns the report of what changed; `gone` tuples were deleted before.
///
/// # Errors
/// The service refuses a part, or gives no answer. Nothing is deleted then.
async fn sync_tuples<T: Serialize>(
    service: &Service,
    import: &Import<'_>,
    tuples: &[T],
    gone: u64,
) -> anyhow::Result<String> {
    let mut all = SyncedPart { deleted: gone, ..SyncedPart::default() };
    // Without tuples, one empty part still ends the sync, which deletes the earlier ones.
    let count = tuples.len().div_ceil(MAX_TUPLES).max(1);
    for index in 0..count {
        let part = tuples.iter().skip(index * MAX_TUPLES).take(MAX_TUPLES).collect::<Vec<_>>();
        let mut body = json!({
            "source": import.owner, "relations": part, "finish": index + 1 == count,
            "allow_deletes": import.allow_deletes,
        });
        if let Some(sync) = &all.sync {
            body["sync"] = sync.as_str().into();
        }
        let done: SyncedPart = service.post("relations/sync", &body).await?;
        all.written += done.written;
        all.unchanged += done.unchanged;
        all.deleted += done.deleted;
        all.sync = done.sync;
    }
    let SyncedPart { written, unchanged, deleted, .. } = all;
    Ok(format!("relations: {written} written, {unchanged} unchanged, {deleted} deleted\n"))
}
