//! The rules of a tenant's content, for decisions that are made again.

use std::sync::Arc;

use portcullis_replay::Side;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::content::content_at::content_at;
use crate::content::content_rulebook::rulebook;
use crate::content::tenant_content::TenantContent;

/// The most revisions whose rules are in memory. The records of several replicas interleave.
const MAX_REVISIONS: usize = 4;
/// The bytes of the stored policies of those revisions from which on no other one is in memory beside them.
const MAX_BYTES: usize = 16 << 20;

/// Returns the rules of a content of `tenant`. They are made beside the threads that serve requests.
///
/// # Errors
/// Too many compilations of the tenant wait.
pub(crate) async fn compiled_side(
    app: &App,
    tenant: &str,
    content: TenantContent,
) -> Result<Arc<Side>, OperationError> {
    Ok(Arc::new(app.compilations.run(tenant, move || side(&content)).await?))
}

fn side(content: &TenantContent) -> Side {
    let types = content.types.iter();
    let relations = types.map(|one| (one.kind.clone(), one.relations.clone())).collect();
    // A record has what the directory said, also if that was nothing.
    Side::new(rulebook(content, true), relations, &content.settings.decision_log)
}

/// The rules of the revisions that decided, the last used ones first.
#[derive(Debug, Default)]
pub(crate) struct RecordedSides(Vec<RecordedSide>);

/// The rules of a revision.
#[derive(Debug)]
struct RecordedSide {
    revision: i64,
    /// `None` if it is not kept.
    side: Option<Arc<Side>>,
    /// The bytes of its stored policies.
    bytes: usize,
}

impl RecordedSides {
    /// Returns whether the rules of a revision have room beside the others, or are there.
    pub(crate) fn has_room_for(&self, revision: i64) -> bool {
        let bytes: usize = self.0.iter().map(|one| one.bytes).sum();
        self.0.iter().any(|one| one.revision == revision)
            || self.0.len() < MAX_REVISIONS && bytes < MAX_BYTES
    }

    /// Returns the rules of a revision; `None` if it is not kept. Others are forgotten first if it has no room beside them.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn get(
        &mut self,
        app: &App,
        tenant: &str,
        revision: i64,
    ) -> Result<Option<Arc<Side>>, OperationError> {
        // Without entries there is room for any revision, so that the loop ends.
        while !self.has_room_for(revision) {
            self.0.pop();
        }
        let entry = match self.0.iter().position(|one| one.revision == revision) {
            Some(place) => self.0.remove(place),
            None => RecordedSide::find(app, tenant, revision).await?,
        };
        let side = entry.side.clone();
        self.0.insert(0, entry);
        Ok(side)
    }
}

impl RecordedSide {
    async fn find(app: &App, tenant: &str, revision: i64) -> Result<Self, OperationError> {
        let Some(content) = recorded_content(app, tenant, revision).await? else {
            return Ok(Self { revision, side: None, bytes: 0 });
        };
        let bytes = content.policies.iter().map(|policy| policy.rule_data.text().len()).sum();
        let side = Some(compiled_side(app, tenant, content).await?);
        Ok(Self { revision, side, bytes })
    }
}

/// Returns the rules of a revision; `None` if it is not kept.
///
/// # Errors
/// The store failed.
pub(crate) async fn recorded_side(
    app: &App,
    tenant: &str,
    revision: i64,
) -> Result<Option<Arc<Side>>, OperationError> {
    Ok(RecordedSide::find(app, tenant, revision).await?.side)
}

/// Returns the content of a revision; `None` if it is not kept.
async fn recorded_content(
    app: &App,
    tenant: &str,
    revision: i64,
) -> Result<Option<TenantContent>, OperationError> {
    if revision == 0 {
        // Nothing was written yet.
        return Ok(Some(TenantContent::default()));
    }
    let mut tx = app.store.begin_read(tenant).await?;
    let content = content_at(&mut tx, u64::try_from(revision).unwrap_or_default()).await;
    tx.end().await?;
    match content {
        Ok(content) => Ok(Some(content)),
        Err(OperationError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_revisions_are_in_memory_and_large_ones_alone() {
        for (bytes, most) in [(0, MAX_REVISIONS), (MAX_BYTES / 2, 2), (MAX_BYTES, 1)] {
            let known =
                (0..most as i64).map(|revision| RecordedSide { revision, side: None, bytes });
            let mut sides = RecordedSides(known.collect());
            assert!(!sides.has_room_for(99) && sides.has_room_for(0), "{bytes}");
            sides.0.pop();
            assert!(sides.has_room_for(99), "{bytes}");
        }
    }
}
