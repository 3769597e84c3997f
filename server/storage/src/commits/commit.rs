//! The commit of a transaction: stores its audit records and events, raises the revision, keeps it in the history, and
//! notifies other replicas.

use futures_util::future::BoxFuture;
use portcullis_engine::{ResourcePattern, Touched};
use portcullis_model::settings::Gates;
use uuid::Uuid;

use crate::commits::author::Author;
use crate::commits::{audit, revisions};
use crate::content::{plan_sizes, quotas};
use crate::databases::notices;
use crate::delivery::events;
use crate::tenancy::tenants;
use crate::transactions::error::StoreError;
use crate::transactions::history::{HistoryPosition, in_epoch};
use crate::transactions::tx::{Inner, Tx, WebhookWrites};

/// The effects of a committed transaction.
#[derive(Debug)]
pub struct Committed {
    pub tenant: String,
    /// The place in the tenant's history after the transaction.
    pub position: HistoryPosition,
    /// The resources that it touched; `None` if it changed nothing.
    pub touched: Option<Vec<Touched>>,
    /// The place in the history of the tenant's entities; `None` if it changed none.
    pub entities: Option<HistoryPosition>,
    pub writes: WebhookWrites,
    /// The service keys that it revoked.
    pub revoked_keys: Vec<Uuid>,
}

impl Tx {
    /// Commits the transaction. If it changed decision data, the revision of the tenant rises by one and the other
    /// replicas are notified.
    ///
    /// # Errors
    /// [`StoreError::Quota`] if there would be more than a quota allows, [`StoreError::GatesNotPassed`] if nobody
    /// judged the changes of a tenant with gates; else the database failed.
    pub fn commit(self) -> BoxFuture<'static, Result<Committed, StoreError>> {
        // Boxed: the future is large, and each crate that awaits it would compile it again.
        Box::pin(self.into_committed())
    }

    async fn into_committed(mut self) -> Result<Committed, StoreError> {
        // The gates are those from before the transaction: one that takes a gate away must pass it, too.
        if self.gates != Gates::default() && self.concerns_gates() && !self.passed_gates {
            return Err(StoreError::GatesNotPassed);
        }
        if self.entities.as_ref().is_some_and(|position| in_epoch(position.revision, 0) == 1) {
            // Plans of a tenant without entities do not look at the directory.
            self.touch([ResourcePattern::Any.into()]);
        }
        let author = Author::read(&mut self).await?;
        audit::write(&mut self, &author).await?;
        quotas::settle(&mut self).await?;
        plan_sizes::settle(&mut self).await?;
        events::write(&mut self).await?;
        let position = match self.touched.take() {
            None => tenants::position(&mut self).await?,
            Some(touched) => {
                let position = tenants::raise_revision(&mut self).await?;
                revisions::write(&mut self, position.revision, &author).await?;
                if let Inner::Postgres(connection) = &mut self.inner {
                    let recent = position.recent();
                    notices::send_revision(connection, &self.tenant, recent, &touched).await?;
                }
                self.touched = Some(touched);
                position
            }
        };
        if let Inner::Postgres(connection) = &mut self.inner {
            if self.writes.deliveries {
                notices::send_deliveries(connection).await?;
            }
            notices::send_revoked_keys(connection, &self.revoked_keys).await?;
            if let Some(entities) = &self.entities {
                notices::send_entities(connection, &self.tenant, entities.recent()).await?;
            }
        }
        match self.inner {
            Inner::Sqlite(inner) => {
                self.write_fault.noting(inner.commit().await)?;
            }
            Inner::Postgres(inner) => inner.commit().await?,
        }
        let Self { tenant, touched, entities, writes, revoked_keys, newest, .. } = self;
        // After the commit: a note of a commit that failed would look as if the database had lost it.
        if let Some(newest) = newest.filter(|_| touched.is_some() || entities.is_some()) {
            newest.note(&tenant, &position, entities.as_ref());
        }
        Ok(Committed { tenant, position, touched, entities, writes, revoked_keys })
    }
}
