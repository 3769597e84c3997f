//! Applies the content of an import, and syncs its tuples.

use portcullis_engine::Json;
use portcullis_model::relation::MAX_TUPLES;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::apply::report;
use super::request::SentApply;
use super::upload::{Planned, apply_content};
use crate::service::Service;

/// Replaces the objects of `owner` with the objects of `content`, and returns the report of what changed.
///
/// # Errors
/// The service refuses the content, and stores none of it then, or gives no answer.
pub async fn import(
    service: &Service,
    owner: &str,
    content: Json<'static>,
) -> anyhow::Result<String> {
    let request = SentApply::for_import(owner);
    let Planned { answer, .. } = apply_content(service, &request, content).await?;
    Ok(report(owner, &answer))
}

/// The counts of a part of a sync.
#[derive(Default, Deserialize)]
struct SyncedPart {
    written: u64,
    unchanged: u64,
    deleted: u64,
    sync: Option<String>,
}

/// Replaces the tuples of `source` with `tuples`, and returns the report of what changed.
///
/// # Errors
/// The service refuses a part, or gives no answer. Nothing is deleted then.
pub async fn sync_tuples<T: Serialize>(
    service: &Service,
    source: &str,
    tuples: &[T],
) -> anyhow::Result<String> {
    let mut all = SyncedPart::default();
    let count = tuples.len().div_ceil(MAX_TUPLES).max(1);
    for index in 0..count {
        let part = tuples.iter().skip(index * MAX_TUPLES).take(MAX_TUPLES).collect::<Vec<_>>();
        let mut body = json!({"source": source, "relations": part, "finish": index + 1 == count});
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
