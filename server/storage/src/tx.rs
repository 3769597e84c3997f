//! The transaction: bound to one tenant, it collects the changes and events that its commit writes.

use portcullis_engine::ResourcePattern;
use portcullis_model::event::Event;
use sqlx::{Postgres, Sqlite, Transaction};

use crate::error::StoreError;

/// The tenant of transactions of the service itself, which see the rows of every tenant.
pub(crate) const EVERY_TENANT: &str = "*";

/// A transaction of one tenant. Dropped without a commit, it is rolled back.
#[derive(Debug)]
pub struct Tx {
    pub(crate) tenant: String,
    pub(crate) inner: Inner,
    /// The resources that the changes so far touch; `None` while there is no change.
    pub(crate) touched: Option<Vec<ResourcePattern>>,
    /// The recorded events that are not stored yet.
    pub(crate) events: Vec<Event>,
    pub(crate) writes: WebhookWrites,
}

/// The connection of a transaction.
#[derive(Debug)]
pub(crate) enum Inner {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// The writes of a transaction that change the work of webhooks.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookWrites {
    /// A delivery became due.
    pub deliveries: bool,
    /// A webhook was created, changed or deleted.
    pub webhooks: bool,
}

impl Tx {
    pub(crate) fn new(tenant: &str, inner: Inner) -> Self {
        let (tenant, writes) = (tenant.to_owned(), WebhookWrites::default());
        Self { tenant, inner, touched: None, events: Vec::new(), writes }
    }

    /// The tenant that every statement is bound to.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Notes a change and the resources whose decisions it may alter. Every function that writes decision data
    /// calls it, so that no write can forget to raise the revision.
    pub(crate) fn touch(&mut self, touched: impl IntoIterator<Item = ResourcePattern>) {
        self.touched.get_or_insert_default().extend(touched);
    }

    /// Records an event, which the commit stores. Every function that writes something that webhooks can subscribe
    /// to calls it, so that no write can forget its event.
    pub fn record(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Ends a transaction that only read.
    pub async fn end(self) -> Result<(), StoreError> {
        match self.inner {
            Inner::Sqlite(inner) => inner.rollback().await?,
            Inner::Postgres(inner) => inner.rollback().await?,
        }
        Ok(())
    }
}
