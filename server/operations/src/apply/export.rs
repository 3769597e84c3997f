//! The content of a tenant as a bundle (`docs/semantics.md`, section 10.7). It is read while it is sent, each kind by one
//! statement, so that no more than a few pieces of it are in memory, and the cases, which are one text in the database.

use std::pin::pin;

use futures_util::TryStreamExt;
use futures_util::future::{Either, select};
use portcullis_auth::Manager;
use portcullis_fairness::Turn;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter, Stop};
use portcullis_storage::{Records, Tx};
use portcullis_storage::{tenant_cases, tenants};
use serde::Serialize;

use super::applied_record::AppliedRecord;
use crate::content::bound::must_fit;
use crate::content::kinds::each_kind;
use crate::content::stored_guards;
use crate::content::stored_settings;

/// A piece is sent when it has this many bytes.
const PIECE: usize = 32 * 1024;

/// An export that is to be written, in its turn.
pub struct Export {
    app: App,
    snapshot: Snapshot,
    _turn: Turn,
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
    let snapshot = Snapshot::begin(tx, owner, caller.domain().to_owned()).await?;
    Ok(Export { app: app.clone(), snapshot, _turn: turn })
}

impl Export {
    /// Returns the revision of the content.
    pub fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// Writes the text.
    ///
    /// # Errors
    /// It broke off. What is written is not complete.
    pub async fn write(self, pieces: PieceWriter) -> Result<(), BrokenOff> {
        let written = self.snapshot.write(pieces).await;
        // A receiver that goes away is not a failure of the service.
        if written.as_ref().is_err_and(|end| !matches!(end, BrokenOff::Stopped(Stop::Gone))) {
            self.app.metrics.exports_broken.inc();
        }
        written
    }
}

/// The content of a tenant at one moment.
pub(super) struct Snapshot {
    pub(super) revision: u64,
    tx: Tx,
    owner: Option<String>,
    domain: String,
}

impl Snapshot {
    /// Returns the content that `tx` sees.
    pub(super) async fn begin(
        mut tx: Tx,
        owner: Option<String>,
        domain: String,
    ) -> Result<Self, OperationError> {
        must_fit(&mut tx).await?;
        let revision = tenants::revision(&mut tx).await?;
        Ok(Self { revision, tx, owner, domain })
    }

    /// Writes the text.
    pub(super) async fn write(self, pieces: PieceWriter) -> Result<(), BrokenOff> {
        let Self { revision, mut tx, owner, domain } = self;
        let mut watched = pieces.clone();
        let mut writer = Writer { text: Vec::new(), pieces };
        let written = {
            let writing = pin!(writer.write(&mut tx, revision, owner.as_deref(), &domain));
            // A receiver that is gone ends the transaction at once, and not with the next piece.
            match select(writing, pin!(watched.stopped())).await {
                Either::Left((written, _)) => written,
                Either::Right((stop, _)) => Err(stop.into()),
            }
        };
        // The connection is free before the last piece is taken.
        tx.end().await?;
        written?;
        writer.send().await
    }
}

/// Writes the text of an export.
struct Writer {
    /// The part that is not sent.
    text: Vec<u8>,
    pieces: PieceWriter,
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
            ) -> Result<(), BrokenOff> {
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
    ) -> Result<(), BrokenOff> {
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
    ) -> Result<(), BrokenOff> {
        self.text.push(b'[');
        let mut is_first = true;
        while let Some(record) = records.try_next().await? {
            self.item(&content(record), &mut is_first).await?;
        }
        self.text.push(b']');
        Ok(())
    }

    async fn list<C: Serialize>(
        &mut self,
        items: impl Iterator<Item = C>,
    ) -> Result<(), BrokenOff> {
        self.text.push(b'[');
        let mut is_first = true;
        for item in items {
            self.item(&item, &mut is_first).await?;
        }
        self.text.push(b']');
        Ok(())
    }

    async fn item(&mut self, item: &impl Serialize, is_first: &mut bool) -> Result<(), BrokenOff> {
        if !std::mem::take(is_first) {
            self.text.push(b',');
        }
        self.value(item);
        if self.text.len() >= PIECE { self.send().await } else { Ok(()) }
    }

    /// Sends the text so far, as soon as the piece before it is taken.
    async fn send(&mut self) -> Result<(), BrokenOff> {
        let text = std::mem::take(&mut self.text);
        Ok(self.pieces.send(text).await?)
    }
}

#[cfg(test)]
mod tests;
