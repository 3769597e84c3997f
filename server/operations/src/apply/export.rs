//! The content of a tenant as a bundle (`docs/semantics.md`, section 10.7). It is read while it is sent, each kind by one
//! statement, so that no more than a few pieces of it are in memory, and the cases, which are one text in the database.

use std::time::Duration;

use futures_util::TryStreamExt;
use portcullis_auth::Manager;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Records, StoreError, Tx};
use portcullis_storage::{tenant_cases, tenants};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::applied_record::AppliedRecord;
use crate::content::bound::must_fit;
use crate::content::kinds::each_kind;
use crate::content::stored_guards;
use crate::content::stored_settings;

/// The longest time for which an export reads. Meanwhile it has a connection of the database, and its snapshot.
const MAX_TIME: Duration = Duration::from_secs(60);
/// The longest time for which an export waits for its client to take a piece. Two clients that take nothing hold the turns
/// of all others meanwhile.
const MAX_STALL: Duration = Duration::from_secs(10);
/// A piece is sent when it has so many bytes.
const PIECE: usize = 32 * 1024;

/// An export that is read while its pieces are taken.
#[derive(Debug)]
pub struct Export {
    pub revision: u64,
    /// `None` after the last piece.
    pieces: mpsc::Receiver<Option<Vec<u8>>>,
}

/// The export broke off: its client took it too slowly, or the database failed. Its text is not complete.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the export broke off")]
pub struct BrokenOff;

impl Export {
    /// Returns the next piece of the text; `None` at its end.
    ///
    /// # Errors
    /// [`BrokenOff`], as the last piece.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, BrokenOff> {
        self.pieces.recv().await.ok_or(BrokenOff)
    }
}

/// Begins to read the content of the caller's tenant, when it is the tenant's turn; with `owner` only the objects of this
/// owner.
///
/// # Errors
/// Too many exports wait, the tenant has too much content, or the store failed.
pub async fn export(
    app: &App,
    caller: &Manager,
    owner: Option<String>,
) -> Result<Export, OperationError> {
    let turn = app.exports.begin(caller.tenant()).await?;
    let tx = app.store.begin_read(caller.tenant()).await?;
    let (app, domain) = (app.clone(), caller.domain().to_owned());
    let times = ExportTimes { until: Instant::now() + MAX_TIME, stall: MAX_STALL };
    let (export, work) = begin(tx, owner, domain, times).await?;
    tokio::spawn(async move {
        let _turn = turn;
        match work.await {
            Ok(()) | Err(Stop::Gone) => return,
            Err(Stop::TooSlow) => {
                tracing::warn!(
                    "an export broke off: its client took longer than {MAX_STALL:?} for a piece, or {MAX_TIME:?} for all"
                );
            }
            Err(Stop::Store(error)) => tracing::error!(%error, "an export broke off"),
        }
        app.metrics.exports_broken.inc();
    });
    Ok(export)
}

/// The times that an export has.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExportTimes {
    /// The end of the reads.
    pub(super) until: Instant,
    /// The longest wait for the client to take a piece.
    pub(super) stall: Duration,
}

/// Returns an export of the transaction's tenant, and the work that reads it.
pub(super) async fn begin(
    mut tx: Tx,
    owner: Option<String>,
    domain: String,
    times: ExportTimes,
) -> Result<(Export, impl Future<Output = Result<(), Stop>> + Send), OperationError> {
    must_fit(&mut tx).await?;
    let revision = tenants::revision(&mut tx).await?;
    let (sender, pieces) = mpsc::channel(1);
    let work = async move {
        let mut writer = Writer { text: Vec::new(), sender, times };
        let written = writer.write(&mut tx, revision, owner.as_deref(), &domain);
        let written =
            tokio::time::timeout_at(times.until, written).await.unwrap_or(Err(Stop::TooSlow));
        // The connection is free before the last piece is taken.
        tx.end().await?;
        written?;
        writer.send().await?;
        writer.hand_over(None).await
    };
    Ok((Export { revision, pieces }, work))
}

/// The reason why an export ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Nobody takes its pieces any more.
    Gone,
    /// The client took too long.
    TooSlow,
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Writes the text of an export.
struct Writer {
    /// The part that is not sent.
    text: Vec<u8>,
    sender: mpsc::Sender<Option<Vec<u8>>>,
    times: ExportTimes,
}

macro_rules! write_records {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        impl Writer {
            /// Writes the records of each kind, and the comma behind them.
            async fn write_records(
                &mut self,
                tx: &mut Tx,
                owner: Option<&str>,
                domain: &str,
            ) -> Result<(), Stop> {
                $(
                    self.name(stringify!($list));
                    let records = <$record>::exported(tx, owner).await?;
                    self.records(records, |one| one.content(domain)).await?;
                    self.text.push(b',');
                )*
                Ok(())
            }
        }
    };
}

each_kind!(write_records);

impl Writer {
    /// Writes all but the last piece.
    async fn write(
        &mut self,
        tx: &mut Tx,
        revision: u64,
        owner: Option<&str>,
        domain: &str,
    ) -> Result<(), Stop> {
        self.text.extend_from_slice(format!(r#"{{"revision":{revision},"bundle":{{"#).as_bytes());
        self.write_records(tx, owner, domain).await?;
        self.name("settings");
        self.value(&stored_settings::settings(tx).await?);
        let stored = tenant_cases::find(tx).await?;
        let (cases, users) =
            stored.as_ref().map_or(("[]", "[]"), |stored| (&*stored.cases, &*stored.users));
        self.name(",cases");
        self.list(stored_guards::items(cases, "tenant_cases.cases")?.into_iter()).await?;
        self.name(",users");
        self.list(stored_guards::items(users, "tenant_cases.users")?.into_iter()).await?;
        self.text.extend_from_slice(b"}}");
        Ok(())
    }

    /// Writes the name of a member, after its comma if it has one.
    fn name(&mut self, name: &str) {
        let (comma, name) = name.strip_prefix(',').map_or(("", name), |name| (",", name));
        self.text.extend_from_slice(format!(r#"{comma}"{name}":"#).as_bytes());
    }

    fn value(&mut self, value: &impl Serialize) {
        // Records as they are stored: there is nothing that could not be written.
        let _ = serde_json::to_writer(&mut self.text, value);
    }

    /// Writes a list of records as they are read.
    async fn records<T, C: Serialize>(
        &mut self,
        mut records: Records<'_, T>,
        content: impl Fn(T) -> C,
    ) -> Result<(), Stop> {
        self.text.push(b'[');
        let mut is_first = true;
        while let Some(record) = records.try_next().await? {
            self.item(&content(record), &mut is_first).await?;
        }
        self.text.push(b']');
        Ok(())
    }

    async fn list<C: Serialize>(&mut self, items: impl Iterator<Item = C>) -> Result<(), Stop> {
        self.text.push(b'[');
        let mut is_first = true;
        for item in items {
            self.item(&item, &mut is_first).await?;
        }
        self.text.push(b']');
        Ok(())
    }

    async fn item(&mut self, item: &impl Serialize, is_first: &mut bool) -> Result<(), Stop> {
        if !std::mem::take(is_first) {
            self.text.push(b',');
        }
        self.value(item);
        if self.text.len() >= PIECE { self.send().await } else { Ok(()) }
    }

    /// Sends the text so far, as soon as the piece before it is taken.
    async fn send(&mut self) -> Result<(), Stop> {
        let text = std::mem::take(&mut self.text);
        self.hand_over(Some(text)).await
    }

    async fn hand_over(&self, piece: Option<Vec<u8>>) -> Result<(), Stop> {
        let until = self.times.until.min(Instant::now() + self.times.stall);
        match tokio::time::timeout_at(until, self.sender.send(piece)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Stop::Gone),
            Err(_) => Err(Stop::TooSlow),
        }
    }
}

#[cfg(test)]
mod tests;
