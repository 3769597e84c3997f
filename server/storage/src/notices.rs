//! Notifications between replicas, by `LISTEN` and `NOTIFY` of PostgreSQL.

use portcullis_engine::{ResourcePattern, Touched};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::error::StoreError;
use crate::history::HistoryPosition;
use crate::tx::WebhookWrites;

/// The channel of changes of decision data.
const CHANGES: &str = "portcullis_changes";
/// The channel on which triggers announce changes of what concerns access.
const ACCESS: &str = "portcullis_access";
/// The channel of changes of webhooks, which replicas of version 0.1 hear.
const WEBHOOKS: &str = "portcullis_webhooks";
/// The channel of new deliveries.
const DELIVERIES: &str = "portcullis_deliveries";
/// The channel of revoked service keys.
const REVOKED_KEYS: &str = "portcullis_revoked_keys";
/// The channel of changes of entities.
const ENTITIES: &str = "portcullis_entities";
/// The longest payload in bytes: PostgreSQL allows 8,000. A longer one says that everything is touched.
const MAX_PAYLOAD: usize = 7_900;

/// A notification of a commit.
#[derive(Debug)]
pub enum Notice {
    /// Decision data changed.
    Revision(RevisionNotice),
    /// The stream of changes has something new about access: states of tenants, providers, keys or webhooks.
    Access,
    /// A delivery became due.
    Deliveries,
    /// The service key with this id is revoked.
    RevokedKey(Uuid),
    /// Entities changed.
    Entities(EntitiesNotice),
}

/// A committed change of entities.
#[derive(Debug, Serialize, Deserialize)]
pub struct EntitiesNotice {
    pub tenant: String,
    /// The place in the history of the tenant's entities after the change.
    #[serde(flatten)]
    pub position: HistoryPosition,
}

/// A committed change of decision data.
#[derive(Debug, Serialize, Deserialize)]
pub struct RevisionNotice {
    pub tenant: String,
    /// The place in the tenant's history after the change.
    #[serde(flatten)]
    pub position: HistoryPosition,
    touched: Vec<String>,
    /// The rule that changed, for each part of `touched`; a replica of version 0.1 sends none.
    #[serde(default)]
    rules: Vec<Option<Uuid>>,
    /// The policy that changed, for each part of `touched`; a replica of version 0.1 sends none.
    #[serde(default)]
    policies: Vec<Option<Uuid>>,
}

impl RevisionNotice {
    /// Returns what the change touched.
    pub fn touched(&self) -> Vec<Touched> {
        let parse = |text: &String| ResourcePattern::parse(text).unwrap_or(ResourcePattern::Any);
        let id = |ids: &[Option<Uuid>], at: usize| ids.get(at).copied().flatten();
        let touched = (0..).zip(&self.touched).map(|(at, text)| Touched {
            resources: parse(text),
            rule: id(&self.rules, at),
            policy: id(&self.policies, at),
        });
        touched.collect()
    }
}

/// Notifies the other replicas of a change; PostgreSQL sends it if and when the transaction commits.
pub(crate) async fn send_revision(
    connection: &mut PgConnection,
    tenant: &str,
    position: HistoryPosition,
    touched: &[Touched],
) -> Result<(), sqlx::Error> {
    let mut notice = RevisionNotice {
        tenant: tenant.to_owned(),
        position,
        touched: touched.iter().map(|one| one.resources.to_string()).collect(),
        rules: touched.iter().map(|one| one.rule).collect(),
        policies: touched.iter().map(|one| one.policy).collect(),
    };
    let mut payload = serde_json::json!(notice).to_string();
    if payload.len() > MAX_PAYLOAD {
        notice.touched = vec![ResourcePattern::Any.to_string()];
        (notice.rules, notice.policies) = (Vec::new(), Vec::new());
        payload = serde_json::json!(notice).to_string();
    }
    send(connection, CHANGES, &payload).await
}

/// Notifies the other replicas of webhooks and deliveries that a transaction wrote.
pub(crate) async fn send_writes(
    connection: &mut PgConnection,
    writes: WebhookWrites,
) -> Result<(), sqlx::Error> {
    for (channel, written) in [(WEBHOOKS, writes.webhooks), (DELIVERIES, writes.deliveries)] {
        if written {
            send(connection, channel, "").await?;
        }
    }
    Ok(())
}

/// Notifies the other replicas of revoked service keys.
pub(crate) async fn send_revoked_keys(
    connection: &mut PgConnection,
    keys: &[Uuid],
) -> Result<(), sqlx::Error> {
    for key in keys {
        send(connection, REVOKED_KEYS, &key.to_string()).await?;
    }
    Ok(())
}

/// Notifies the other replicas of changed entities.
pub(crate) async fn send_entities(
    connection: &mut PgConnection,
    tenant: &str,
    position: HistoryPosition,
) -> Result<(), sqlx::Error> {
    let notice = EntitiesNotice { tenant: tenant.to_owned(), position };
    send(connection, ENTITIES, &serde_json::json!(notice).to_string()).await
}

async fn send(
    connection: &mut PgConnection,
    channel: &str,
    payload: &str,
) -> Result<(), sqlx::Error> {
    let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(payload);
    notify.execute(connection).await.map(drop)
}

/// The notices of every replica, in the order of commit.
#[derive(Debug)]
pub struct Notices(PgListener);

impl Notices {
    pub(crate) async fn listen(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen_all([CHANGES, ACCESS, DELIVERIES, REVOKED_KEYS, ENTITIES]).await?;
        Ok(Self(listener))
    }

    /// Waits for the next notice; `None` if some may have been lost.
    pub async fn next(&mut self) -> Result<Option<Notice>, StoreError> {
        let received = self.0.try_recv().await?;
        Ok(received.and_then(|received| match received.channel() {
            ACCESS => Some(Notice::Access),
            DELIVERIES => Some(Notice::Deliveries),
            REVOKED_KEYS => received.payload().parse().ok().map(Notice::RevokedKey),
            ENTITIES => serde_json::from_str(received.payload()).ok().map(Notice::Entities),
            _ => serde_json::from_str(received.payload()).ok().map(Notice::Revision),
        }))
    }
}
