//! Notifications between replicas, by `LISTEN` and `NOTIFY` of PostgreSQL.

use portcullis_engine::{ResourcePattern, Touched};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::history::HistoryPosition;

/// The channel of changes of decision data.
const CHANGES: &str = "portcullis_changes";
/// The channel on which triggers announce changes of what concerns access.
const ACCESS: &str = "portcullis_access";
/// The channel of new deliveries.
const DELIVERIES: &str = "portcullis_deliveries";
/// The channel of revoked service keys.
const REVOKED_KEYS: &str = "portcullis_revoked_keys";
/// The channel of changes of entities.
const ENTITIES: &str = "portcullis_entities";
/// The channel of questions for decisions that are not sealed.
const QUESTIONS: &str = "portcullis_record_questions";
/// The channel of answers to them.
const ANSWERS: &str = "portcullis_record_answers";
/// The longest payload in bytes: PostgreSQL allows 8,000. A longer one says that everything is touched.
pub const MAX_PAYLOAD: usize = 7_900;
/// The class of the advisory locks of replicas that keep a record of decisions: any number that no other program uses.
const RECORDING: i32 = 0x5043_4C53;

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
    /// A replica asks for decisions that are not sealed.
    Question(String),
    /// The replica with this number answered the question.
    Answer(Uuid, i64),
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
    /// The rule that changed, for each part of `touched`; empty if everything is touched.
    rules: Vec<Option<Uuid>>,
    /// The policy that changed, for each part of `touched`; empty if everything is touched.
    policies: Vec<Option<Uuid>>,
}

impl RevisionNotice {
    /// Returns what the change touched.
    pub fn touched(&self) -> Vec<Touched> {
        let touched = (0..).zip(&self.touched).map(|(at, text)| Touched {
            // What this version cannot read may be about anything.
            resources: ResourcePattern::parse(text).unwrap_or(ResourcePattern::Any),
            rule: self.rules.get(at).copied().flatten(),
            policy: self.policies.get(at).copied().flatten(),
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

/// Notifies the other replicas that a delivery became due.
pub(crate) async fn send_deliveries(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    send(connection, DELIVERIES, "").await
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

/// Tells the replica that asked that `replica` answered.
pub(crate) async fn send_answer(
    connection: &mut PgConnection,
    question: Uuid,
    replica: i64,
) -> Result<(), sqlx::Error> {
    send(connection, ANSWERS, &format!("{question} {replica}")).await
}

/// Asks all replicas that keep a record of decisions but `own`, and returns their numbers. Disconnected replicas hold no lock
/// and are not asked.
pub(crate) async fn ask(pool: &PgPool, own: i32, question: &str) -> Result<Vec<i64>, sqlx::Error> {
    // A lock by two 32-bit keys has `objsubid` 2, its first key in `classid` and its second in `objid`.
    // `pg_notify` runs for each row, but PostgreSQL sends equal notifications of one transaction once.
    let others = sqlx::query_scalar(
        "SELECT replica FROM (SELECT DISTINCT CAST(objid AS BIGINT) AS replica FROM pg_locks \
         WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND CAST(classid AS BIGINT) = $1 \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS others \
         WHERE replica <> $2 AND pg_notify($3, $4) IS NOT NULL",
    );
    let bound = others.bind(i64::from(RECORDING)).bind(i64::from(own)).bind(QUESTIONS);
    bound.bind(question).fetch_all(pool).await
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
pub struct Notices {
    listener: PgListener,
    /// The number of this replica, if it keeps a record of decisions.
    recording: Option<i32>,
}

impl Notices {
    pub(crate) async fn listen(pool: &PgPool, recording: Option<i32>) -> Result<Self, sqlx::Error> {
        let mut listener = PgListener::connect_with(pool).await?;
        let channels = [CHANGES, ACCESS, DELIVERIES, REVOKED_KEYS, ENTITIES];
        listener.listen_all(channels).await?;
        let mut notices = Self { listener, recording };
        if recording.is_some() {
            notices.listener.listen_all([QUESTIONS, ANSWERS]).await?;
            // After `LISTEN`: whoever sees the lock may ask at once.
            notices.announce().await?;
        }
        Ok(notices)
    }

    /// Takes the lock by which other replicas know of this one. It ends with the connection.
    async fn announce(&mut self) -> Result<(), sqlx::Error> {
        let Some(replica) = self.recording else { return Ok(()) };
        let lock = sqlx::query("SELECT pg_advisory_lock_shared($1, $2)");
        lock.bind(RECORDING).bind(replica).execute(&mut self.listener).await.map(drop)
    }

    /// Waits for the next notice; `None` if some may have been lost.
    pub async fn next(&mut self) -> Result<Option<Notice>, StoreError> {
        let Some(received) = self.listener.try_recv().await? else {
            // There is another connection, without the lock.
            self.announce().await?;
            return Ok(None);
        };
        // A payload that this version cannot read counts as a lost notice.
        Ok(match received.channel() {
            ACCESS => Some(Notice::Access),
            DELIVERIES => Some(Notice::Deliveries),
            REVOKED_KEYS => received.payload().parse().ok().map(Notice::RevokedKey),
            ENTITIES => serde_json::from_str(received.payload()).ok().map(Notice::Entities),
            QUESTIONS => Some(Notice::Question(received.payload().to_owned())),
            ANSWERS => answer(received.payload()),
            _ => serde_json::from_str(received.payload()).ok().map(Notice::Revision),
        })
    }
}

fn answer(payload: &str) -> Option<Notice> {
    let (question, replica) = payload.split_once(' ')?;
    Some(Notice::Answer(question.parse().ok()?, replica.parse().ok()?))
}
