//! Applies the content of an import, and syncs its tuples.

use std::collections::HashSet;

use portcullis_engine::Json;
use portcullis_model::relation::MAX_TUPLES;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::apply::report;
use super::request::SentApply;
use super::upload::{Planned, apply_content};
use crate::service::{Service, may_not, relations_in_use};

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

/// Does as [`import()`] does, and replaces the tuples of the source `owner` with `tuples`. Tuples of the source that `tuples`
/// lacks go before, where the types could not change because of them.
///
/// # Errors
/// The service refuses the content, a deletion or a part of the tuples, or gives no answer.
pub async fn import_with_tuples<T: Serialize>(
    service: &Service,
    owner: &str,
    content: Json<'static>,
    tuples: &[T],
) -> anyhow::Result<String> {
    let mut gone = 0;
    // A refusal names the first relations that are in use.
    let applied = loop {
        let refused = match import(service, owner, content.clone()).await {
            Ok(report) => break report,
            Err(refused) => refused,
        };
        match delete_stale(service, owner, relations_in_use(&refused), tuples).await {
            Ok(0) if gone > 0 => {
                let what = format!("{gone} tuples of `{owner}` were deleted before; import again");
                return Err(refused.context(what));
            }
            Ok(0) => return Err(refused),
            Ok(more) => gone += more,
            Err(error) if may_not(&error) => {
                anyhow::bail!(
                    "{refused}\n  with `relations:read` and `relations:write`, the import deletes the tuples of its source that the model no longer allows"
                );
            }
            Err(error) => return Err(error),
        }
    };
    let synced = sync_tuples(service, owner, tuples, gone).await?;
    Ok(applied + &synced)
}

/// Deletes the tuples of `source` that have one of the relations, each named as `<type>.<name>`, and are not among `tuples`.
/// Returns how many.
async fn delete_stale<T: Serialize>(
    service: &Service,
    source: &str,
    relations: &[String],
    tuples: &[T],
) -> anyhow::Result<u64> {
    let kept = tuples.iter().map(|one| Ok(key(&serde_json::to_value(one)?)));
    let kept: HashSet<Value> = kept.collect::<anyhow::Result<_>>()?;
    let mut gone = 0;
    for relation in relations {
        let Some((object_type, name)) = relation.rsplit_once('.') else { continue };
        let query = [("source", source), ("object_type", object_type), ("relation", name)];
        let query = query.map(|(name, value)| (name, value.to_owned()));
        let mut stale = Vec::new();
        let take = |page: Vec<Value>| {
            stale.extend(page.iter().map(key).filter(|tuple| !kept.contains(tuple)));
            Ok(true)
        };
        service.each_page("relations", &query, take).await?;
        for part in stale.chunks(MAX_TUPLES) {
            let _: IgnoredAny = service.post("relations", &json!({"delete": part})).await?;
            gone += part.len() as u64;
        }
    }
    Ok(gone)
}

/// Returns the members of a tuple that make it another one: all but its expiry.
fn key(tuple: &Value) -> Value {
    let members = ["object", "relation", "subject", "subject_relation"];
    let members = members.into_iter().filter(|name| !tuple[*name].is_null());
    members.map(|name| (name.to_owned(), tuple[name].clone())).collect::<Map<_, _>>().into()
}

/// The counts of a part of a sync.
#[derive(Default, Deserialize)]
struct SyncedPart {
    written: u64,
    unchanged: u64,
    deleted: u64,
    sync: Option<String>,
}

/// Replaces the tuples of `source` with `tuples`, and returns the report of what changed; `gone` tuples were deleted before.
///
/// # Errors
/// The service refuses a part, or gives no answer. Nothing is deleted then.
async fn sync_tuples<T: Serialize>(
    service: &Service,
    source: &str,
    tuples: &[T],
    gone: u64,
) -> anyhow::Result<String> {
    let mut all = SyncedPart { deleted: gone, ..SyncedPart::default() };
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
