//! Rows of tuples, and lookups of them, many at a time.

use std::collections::HashMap;

use portcullis_directory::RelationNumber;
use portcullis_model::Timestamp;
use portcullis_model::relation::{ObjectName, TupleRecord};
use uuid::Uuid;

use super::TupleKey;
use crate::transactions::error::StoreError;
use crate::transactions::macros::row;
use crate::transactions::row_lists::{LookUp, look_up};
use crate::transactions::tx::Tx;

const CORRUPT: StoreError = StoreError::Corrupt { what: "relations.relation" };

/// The number in rows that stands for no relation of the subject.
pub(super) const NO_RELATION: i64 = 0;

/// Reads tuples by their keys.
pub(crate) const LOOK_UP: LookUp = LookUp {
    table: "relations",
    key: &[
        ("object_type", "TEXT"),
        ("object_id", "TEXT"),
        ("relation", "BIGINT"),
        ("subject_type", "TEXT"),
        ("subject_id", "TEXT"),
        ("subject_relation", "BIGINT"),
    ],
    columns: COLUMNS,
    names: COLUMNS,
};

const COLUMNS: &str = "object_type, object_id, relation, subject_type, subject_id, \
    subject_relation, expires_at, source, sync, revision, updated_at, is_deleted";

row! {
    /// The row of a tuple.
    #[derive(Clone, Debug)]
    pub(super) struct StoredTuple {
        pub(super) object_type: String,
        pub(super) object_id: String,
        pub(super) relation: i64,
        pub(super) subject_type: String,
        pub(super) subject_id: String,
        pub(super) subject_relation: i64,
        pub(super) expires_at: Option<i64>,
        pub(super) source: Option<String>,
        pub(super) sync: Option<Uuid>,
        pub(super) revision: i64,
        pub(super) updated_at: i64,
        pub(super) is_deleted: bool,
    }
}

impl StoredTuple {
    /// Returns the key.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub(super) fn key(&self) -> Result<TupleKey, StoreError> {
        Ok(TupleKey {
            object: ObjectName { kind: self.object_type.clone(), id: self.object_id.clone() },
            relation: relation(self.relation)?.ok_or(CORRUPT)?,
            subject: ObjectName { kind: self.subject_type.clone(), id: self.subject_id.clone() },
            subject_relation: relation(self.subject_relation)?,
        })
    }

    /// Returns the bytes of the tuple that count.
    pub(super) fn bytes(&self) -> i64 {
        let Self { object_type, object_id, subject_type, subject_id, .. } = self;
        bytes([object_type, object_id, subject_type, subject_id])
    }

    /// Returns the record, with the names of relations by number.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub(super) fn record(
        &self,
        names: &HashMap<RelationNumber, String>,
    ) -> Result<TupleRecord, StoreError> {
        let TupleKey { object, relation, subject, subject_relation } = self.key()?;
        let name = |number| names.get(&number).cloned().ok_or(CORRUPT);
        Ok(TupleRecord {
            object: object.to_string(),
            relation: name(relation)?,
            subject: subject.to_string(),
            subject_relation: subject_relation.map(name).transpose()?,
            expires_at: self.expires_at.map(Timestamp::from_millis),
            source: self.source.clone(),
            updated_at: Timestamp::from_millis(self.updated_at),
            place: String::new(),
        })
    }
}

/// Returns the bytes of a tuple that count.
pub(super) fn bytes(texts: [&String; 4]) -> i64 {
    let sum: usize = texts.iter().map(|text| text.len()).sum();
    i64::try_from(sum).unwrap_or(i64::MAX)
}

/// Reads the number of a relation; `None` for none.
///
/// # Errors
/// [`StoreError::Corrupt`]
pub(super) fn relation(stored: i64) -> Result<Option<RelationNumber>, StoreError> {
    let number = u16::try_from(stored).map_err(|_| CORRUPT)?;
    Ok((stored != NO_RELATION).then_some(RelationNumber(number)))
}

/// Returns the column of the relation of a subject.
pub(super) fn subject_relation(number: Option<RelationNumber>) -> i64 {
    number.map_or(NO_RELATION, |number| i64::from(number.0))
}

/// Finds the sources of the tuples with these keys. A tuple without a source is not there.
pub async fn sources(
    tx: &mut Tx,
    keys: &[TupleKey],
) -> Result<HashMap<TupleKey, String>, StoreError> {
    let stored = find_stored(tx, keys.iter()).await?;
    let stored = stored.into_iter().filter(|(_, row)| !row.is_deleted);
    Ok(stored.filter_map(|(key, row)| Some((key, row.source?))).collect())
}

/// Finds the rows with these keys, including rows of deleted tuples.
pub(super) async fn find_stored<'k>(
    tx: &mut Tx,
    keys: impl Iterator<Item = &'k TupleKey>,
) -> Result<HashMap<TupleKey, StoredTuple>, StoreError> {
    let keys: Vec<&TupleKey> = keys.collect();
    let rows = look_up!(tx, StoredTuple, LOOK_UP, keys, key =>
        &*key.object.kind,
        &*key.object.id,
        i64::from(key.relation.0),
        &*key.subject.kind,
        &*key.subject.id,
        subject_relation(key.subject_relation),
    );
    rows.into_iter().map(|row| Ok((row.key()?, row))).collect()
}
