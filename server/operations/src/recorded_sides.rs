//! The rules of a tenant's content, for decisions that are made again.

use std::sync::Arc;

use portcullis_replay::Side;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::content_at::content_at;
use crate::content_rulebook::rulebook;
use crate::tenant_content::TenantContent;

/// The most revisions whose rules are in memory. The records of several replicas interleave.
const MAX_REVISIONS: usize = 4;

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
pub(crate) struct RecordedSides(Vec<(i64, Option<Arc<Side>>)>);

impl RecordedSides {
    /// Returns the rules of a revision; `None` if it is not kept.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn get(
        &mut self,
        app: &App,
        tenant: &str,
        revision: i64,
    ) -> Result<Option<Arc<Side>>, OperationError> {
        let place = self.0.iter().position(|(known, _)| *known == revision);
        let entry = match place {
            Some(place) => self.0.remove(place),
            None => (revision, recorded_side(app, tenant, revision).await?),
        };
        let side = entry.1.clone();
        self.0.insert(0, entry);
        self.0.truncate(MAX_REVISIONS);
        Ok(side)
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
    if revision == 0 {
        // Nothing was written yet.
        return Ok(Some(Arc::new(side(&TenantContent::default()))));
    }
    let mut tx = app.store.begin_read(tenant).await?;
    let content = content_at(&mut tx, u64::try_from(revision).unwrap_or_default()).await;
    tx.end().await?;
    match content {
        Ok(content) => compiled_side(app, tenant, content).await.map(Some),
        Err(OperationError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
