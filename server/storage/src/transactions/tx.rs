//! The transaction: bound to one tenant, it collects the changes and events that its commit writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_engine::{ResourcePattern, Touched};
use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditAction, ChangeSource, Origin};
use portcullis_model::event::Event;
use portcullis_model::quota::{PerQuota, Quota, Quotas};
use portcullis_model::revision::RevisionVia;
use portcullis_model::settings::Gates;
use serde::Serialize;
use sqlx::{Postgres, Sqlite, Transaction};
use uuid::Uuid;

use crate::transactions::audit_entry::AuditEntry;
use crate::transactions::error::StoreError;
use crate::transactions::history::HistoryPosition;
use crate::transactions::newest_commit::NewestCommit;
use crate::transactions::record_changes::RecordChanges;
use crate::transactions::stored_cases::StoredCases;
use crate::transactions::write_fault::WriteFault;
use crate::transactions::write_turn::WriteTurn;

/// The tenant of transactions of the service itself, which see the rows of every tenant.
pub(crate) const EVERY_TENANT: &str = "*";

/// A transaction of one tenant. Dropped without a commit, it is rolled back.
#[derive(Debug)]
pub struct Tx {
    pub(crate) tenant: String,
    pub(crate) inner: Inner,
    /// The resources that the changes so far touch; `None` while there is no change.
    pub(crate) touched: Option<Vec<Touched>>,
    /// The place in the history of the tenant's entities after the changes so far; `None` while they change none.
    pub(crate) entities: Option<HistoryPosition>,
    /// The recorded events that are not stored yet.
    pub(crate) events: Vec<Event>,
    pub(crate) writes: WebhookWrites,
    /// The gates of the tenant from before the transaction.
    pub(crate) gates: Gates,
    /// Whether the changes so far concern the settings or the cases of the tenant.
    pub(crate) touched_guards: bool,
    /// Whether named conditions changed, which no policy may use yet.
    pub(crate) touched_names: bool,
    /// The cases from before the transaction, if it stores other ones.
    pub(crate) replaced_cases: Option<StoredCases>,
    /// Whether the changes passed the gates.
    pub(crate) passed_gates: bool,
    /// The service keys that the changes so far revoke.
    pub(crate) revoked_keys: Vec<Uuid>,
    /// The changes whose audit records are not stored yet.
    pub(crate) audited: Vec<AuditEntry>,
    /// The changes of records that the history keeps.
    pub(crate) record_changes: RecordChanges,
    /// The author of the changes.
    pub(crate) origin: Origin,
    /// The way on which the changes came, if a caller named it.
    pub(crate) via: Option<RevisionVia>,
    /// The origin of the apply that makes the changes.
    pub(crate) source: Option<ChangeSource>,
    /// The instant of the changes.
    pub(crate) at: Timestamp,
    /// The changes so far of the numbers that quotas limit.
    pub(crate) change: PerQuota<i64>,
    /// The changes so far of the bytes of rules and policies, by the resource or pattern that they are on.
    pub(crate) plan_changes: BTreeMap<String, i64>,
    /// The resources and patterns whose policies may use other named conditions than before, or changed ones.
    pub(crate) changed_uses: BTreeSet<String>,
    /// The quotas that hold for the transaction.
    pub(crate) quotas: Quotas,
    /// The most denied checks that wait for one webhook.
    pub(crate) max_waiting_denials: u32,
    /// Notes a statement that fails because the database cannot be written.
    pub(crate) write_fault: WriteFault,
    /// The file in which the commit is noted.
    pub(crate) newest: Option<Arc<NewestCommit>>,
    /// Dropped last: the next write of the tenant begins after the end of this transaction.
    pub(crate) turn: Option<WriteTurn>,
}

/// A statement of both databases.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
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
    /// The number of denied checks that were dropped.
    pub dropped_denials: u64,
}

impl Tx {
    /// Wraps a transaction that waited for no turn, and for which no quota holds.
    pub(crate) fn new(tenant: &str, inner: Inner, max_waiting_denials: u32) -> Self {
        Self {
            tenant: tenant.to_owned(),
            inner,
            touched: None,
            entities: None,
            events: Vec::new(),
            writes: WebhookWrites::default(),
            gates: Gates::default(),
            touched_guards: false,
            touched_names: false,
            replaced_cases: None,
            passed_gates: false,
            revoked_keys: Vec::new(),
            audited: Vec::new(),
            record_changes: RecordChanges::default(),
            origin: Origin::service(),
            via: None,
            source: None,
            at: Timestamp::from_millis(0),
            change: PerQuota::default(),
            plan_changes: BTreeMap::new(),
            changed_uses: BTreeSet::new(),
            quotas: Quotas::NONE,
            max_waiting_denials,
            write_fault: WriteFault::default(),
            newest: None,
            turn: None,
        }
    }

    /// The tenant that every statement is bound to.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Notes a change and the resources whose decisions it may alter. Every function that writes decision data
    /// calls it, so that no write can forget to raise the revision.
    pub(crate) fn touch(&mut self, touched: impl IntoIterator<Item = Touched>) {
        self.touched.get_or_insert_default().extend(touched);
    }

    /// Notes a change of the settings or cases of the tenant, which its gates judge as they judge decision data. It raises
    /// the revision and touches no plan.
    pub(crate) fn touch_guards(&mut self) {
        self.touched_guards = true;
        self.touch([]);
    }

    /// Notes a change of named conditions. Gates judge it where no policy uses them yet, too: a proposal that waits may.
    pub(crate) fn touch_names(&mut self, users: Vec<Touched>) {
        self.touched_names = true;
        self.touch(users);
    }

    /// Returns what the changes so far touch.
    pub fn touched(&self) -> &[Touched] {
        self.touched.as_deref().unwrap_or_default()
    }

    /// Returns the gates that hold for the transaction: those that were stored before it. Only a transaction that locked
    /// its tenant has any.
    pub fn gates(&self) -> Gates {
        self.gates
    }

    /// Returns whether the changes so far concern the settings or cases of the tenant.
    pub fn concerns_guards(&self) -> bool {
        self.touched_guards
    }

    /// Returns whether gates judge the changes so far: they may alter decisions, or concern settings, cases or
    /// named conditions. A registration without rules alters none.
    pub fn concerns_gates(&self) -> bool {
        self.touched_guards
            || self.touched_names
            || self.touched.as_ref().is_some_and(|touched| !touched.is_empty())
    }

    /// Notes that the changes passed the gates, or that none binds their author. A transaction that gates judge does not
    /// commit without it.
    pub fn pass_gates(&mut self) {
        self.passed_gates = true;
    }

    /// Notes that the tenant has `change` more of what a quota limits. Every function that writes such a record calls
    /// it, so that no write can forget to count. The commit refuses what exceeds the quota.
    pub(crate) fn count(&mut self, quota: Quota, change: i64) {
        *self.change.get_mut(quota) += change;
    }

    /// Notes that the rules and policies on `pattern` have `change` more bytes, as [`Tx::count`] does for records.
    pub(crate) fn count_on(&mut self, pattern: &ResourcePattern, change: i64) {
        *self.plan_changes.entry(pattern.to_string()).or_default() += change;
    }

    /// Records an event, which the commit stores. Every function that writes something that webhooks can subscribe
    /// to calls it, so that no write can forget its event.
    pub fn record(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Names the author and the instant of the changes. Without it they count as changes of the service itself.
    pub fn attribute_to(&mut self, origin: &Origin, at: Timestamp) {
        self.origin = origin.clone();
        self.at = at;
    }

    /// Names the way on which the changes came, and the origin of the apply that makes them.
    pub fn came_by(&mut self, via: RevisionVia, source: ChangeSource) {
        self.via = Some(via);
        // An apply that says nothing of its origin has none.
        self.source = Some(source).filter(|source| *source != ChangeSource::default());
    }

    /// Names the service itself as the author, and the instant of the changes.
    pub fn attribute_to_service(&mut self, at: Timestamp) {
        self.attribute_to(&Origin::service(), at);
    }

    /// Notes a change of the record with this id. The commit stores an audit record of it. Every function that writes
    /// a change that somebody decided on calls it, so that no change can miss its audit record.
    pub fn audit(&mut self, action: AuditAction, record: impl ToString) {
        self.audited.push(AuditEntry::new(action, record));
    }

    /// Notes a change as [`Tx::audit`] does, with the record before and after it, which the history keeps.
    pub(crate) fn audit_change<T: Serialize>(
        &mut self,
        action: AuditAction,
        record: impl ToString,
        before: Option<&T>,
        after: Option<&T>,
    ) {
        let record = record.to_string();
        // Records are texts, numbers, lists and maps of them: there is nothing that could not be written.
        let [before, after] = [before, after]
            .map(|one| one.map(|record| serde_json::to_string(record).unwrap_or_default()));
        // The history keeps whole texts, and the audit record leaves long ones out.
        if let Some(kind) = action.object() {
            self.record_changes.note(kind, record.clone(), before.clone(), after.clone());
        }
        self.audited.push(AuditEntry::new(action, record).with_change(before, after));
    }

    /// Returns the statement or statements for the database of the transaction.
    pub(crate) fn either<S>(&self, sqlite: S, postgres: S) -> S {
        match self.inner {
            Inner::Sqlite(_) => sqlite,
            Inner::Postgres(_) => postgres,
        }
    }

    /// Returns the statement for the database of the transaction.
    pub(crate) fn statement(&self, statements: &Statements) -> &'static str {
        self.either(statements.sqlite, statements.postgres)
    }

    /// Ends a transaction that only read.
    pub async fn end(self) -> Result<(), StoreError> {
        self.cancel().await.map(drop)
    }

    /// Takes back what the transaction wrote, and returns the turn in which it did. The database is free for others.
    pub async fn cancel(self) -> Result<Option<WriteTurn>, StoreError> {
        match self.inner {
            Inner::Sqlite(inner) => inner.rollback().await?,
            Inner::Postgres(inner) => inner.rollback().await?,
        }
        Ok(self.turn)
    }
}
