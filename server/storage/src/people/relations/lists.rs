//! Tuples that fit a filter, in pages.

use portcullis_directory::RelationNumber;
use portcullis_model::page::Listed;
use portcullis_model::relation::TupleRecord;
use serde::{Deserialize, Serialize};

use super::stored::{StoredTuple, relation, subject_relation as stored_number};
use crate::content::types::relation_names;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{fetch_all, fetch_optional};
use crate::transactions::paging::{Pages, fetch_page};
use crate::transactions::tx::Tx;

/// The tuples to find. An absent part fits all.
#[derive(Clone, Copy, Debug, Default)]
pub struct TupleFilter<'f> {
    /// The type and id of the object.
    pub object: Option<(&'f str, &'f str)>,
    /// The type of the object.
    pub object_type: Option<&'f str>,
    /// The relations: those with one name have another number in each type.
    pub relations: Option<&'f [RelationNumber]>,
    /// The type and id of the subject, with any relation of the subject.
    pub subject: Option<(&'f str, &'f str)>,
    pub source: Option<&'f str>,
}

/// The place of a tuple in the order of lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TuplePlace {
    pub(super) object_type: String,
    pub(super) object_id: String,
    pub(super) relation: i64,
    pub(super) subject_type: String,
    pub(super) subject_id: String,
    pub(super) subject_relation: i64,
}

impl From<&StoredTuple> for TuplePlace {
    fn from(row: &StoredTuple) -> Self {
        Self {
            object_type: row.object_type.clone(),
            object_id: row.object_id.clone(),
            relation: row.relation,
            subject_type: row.subject_type.clone(),
            subject_id: row.subject_id.clone(),
            subject_relation: row.subject_relation,
        }
    }
}

/// The columns of a [`StoredTuple`].
macro_rules! columns {
    () => {
        "object_type, object_id, relation, subject_type, subject_id, subject_relation, \
        expires_at, source, sync, revision, updated_at, is_deleted"
    };
}

/// Writes the statement that reads `$columns` of the tuples that fit and for which `$narrow` is true, too.
macro_rules! tuples {
    ($columns:expr, $narrow:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM relations WHERE tenant_id = $1 AND NOT is_deleted ",
            $narrow,
            " AND (CAST($2 AS TEXT) IS NULL OR object_type = $2) \
            AND (CAST($3 AS TEXT) IS NULL OR object_id = $3) \
            AND (CAST($4 AS TEXT) IS NULL OR $4 LIKE '%,' || relation || ',%') \
            AND (CAST($5 AS TEXT) IS NULL OR subject_type = $5) \
            AND (CAST($6 AS TEXT) IS NULL OR subject_id = $6) \
            AND (CAST($7 AS TEXT) IS NULL OR source = $7)"
        )
    };
}

/// Writes the statements of a page of the tuples for which `$narrow` is true, too. `$first` is the first column of their
/// order: an expression that no index has leaves SQLite the index of `$narrow`, instead of all tuples in this order.
macro_rules! tuple_pages {
    ($narrow:literal, $first:literal) => {{
        const PAGES: [&str; 2] = [
            tuple_pages!(
                @of "CAST(octet_length(object_type) + octet_length(object_id) \
            + octet_length(subject_type) + octet_length(subject_id) AS BIGINT)", $narrow, $first
            ),
        tuple_pages!(@of columns!(), $narrow, $first),
        ];
        PAGES
    }};
    (@of $columns:expr, $narrow:literal, $first:literal) => {
        concat!(
            tuples!($columns, $narrow),
            " AND (",
            $first,
            ", object_id, relation, subject_type, subject_id, subject_relation) \
            > ($8, $9, $10, $11, $12, $13) ORDER BY ",
            $first,
            ", object_id, relation, subject_type, subject_id, subject_relation LIMIT $14"
        )
    };
}

/// Writes the statement of some tuples for which `$narrow` is true, too. They have no order, so that each database takes the
/// index of `$narrow`.
macro_rules! some_tuples {
    ($narrow:literal, $_:literal) => {
        concat!(tuples!(columns!(), $narrow), " LIMIT $8")
    };
}

/// Calls `$statements!` with a condition on the columns of one index, by what the filter has, and with the first column of
/// the order of lists.
macro_rules! narrowed {
    ($statements:ident, $filter:expr) => {
        match $filter {
            TupleFilter { object: Some(_), .. } => {
                $statements!("AND object_type = $2 AND object_id = $3", "object_type")
            }
            TupleFilter { subject: Some(_), .. } => {
                $statements!("AND subject_type = $5 AND subject_id = $6", "object_type || ''")
            }
            TupleFilter { source: Some(_), .. } => {
                $statements!("AND source = $7", "object_type")
            }
            TupleFilter { object_type: Some(_), .. } => {
                $statements!("AND object_type = $2", "object_type")
            }
            _ => $statements!("", "object_type"),
        }
    };
}

impl TupleFilter<'_> {
    /// Returns the statements that read a page of the tuples.
    pub(crate) fn pages(&self) -> Pages {
        narrowed!(tuple_pages, self)
    }

    /// Returns the statement that reads some of the tuples.
    pub(crate) fn some(&self) -> &'static str {
        narrowed!(some_tuples, self)
    }

    /// Returns the type of the object.
    fn object_type(&self) -> Option<&str> {
        self.object.map(|(kind, _)| kind).or(self.object_type)
    }

    /// Returns the numbers of the relations with a comma before and after each.
    fn relations(&self) -> Option<String> {
        // One parameter for all of them, so that the statement is the same for any number of relations.
        let numbers = self.relations?.iter().map(|number| format!("{},", number.0));
        Some(format!(",{}", numbers.collect::<String>()))
    }
}

/// Runs statements of a [`TupleFilter`] with `$fetch`.
macro_rules! fetch {
    ($fetch:ident, $tx:expr, [$($arguments:expr),*], $filter:expr $(, $more:expr)* $(,)?) => {
        $fetch!(
            $tx, StoredTuple, $($arguments,)* &$tx.tenant, $filter.object_type(),
            $filter.object.map(|(_, id)| id), $filter.relations(),
            $filter.subject.map(|(kind, _)| kind), $filter.subject.map(|(_, id)| id), $filter.source
            $(, $more)*
        )
    };
}

/// Lists a page of the tuples that fit, after the place of a record. A text that is not a place, such as the empty one,
/// begins the list.
pub async fn list(
    tx: &mut Tx,
    filter: &TupleFilter<'_>,
    after: &str,
    limit: i64,
) -> Result<Listed<TupleRecord>, StoreError> {
    let after: TuplePlace = serde_json::from_str(after).unwrap_or_default();
    let pages = filter.pages();
    let listed: Listed<StoredTuple> = fetch!(
        fetch_page,
        tx,
        [limit, pages],
        filter,
        &after.object_type,
        &after.object_id,
        after.relation,
        &after.subject_type,
        &after.subject_id,
        after.subject_relation,
    )?;
    let names = relation_names(tx).await?;
    let records = listed.records.iter().map(|row| {
        // Texts and numbers: there is nothing that could not be written.
        let place = serde_json::to_string(&TuplePlace::from(row)).unwrap_or_default();
        Ok(TupleRecord { place, ..row.record(&names)? })
    });
    let records = records.collect::<Result<_, StoreError>>()?;
    Ok(Listed { records, more: listed.more })
}

/// Returns `limit` of the tuples that fit, in no order, or all of them.
pub(super) async fn matching(
    tx: &mut Tx,
    filter: &TupleFilter<'_>,
    limit: usize,
) -> Result<Vec<StoredTuple>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(fetch!(fetch_all, tx, [filter.some()], filter, limit)?)
}

/// The tuples of one type of objects that are alike for definitions of relations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TupleShape {
    /// The type of the objects.
    pub object_type: String,
    pub relation: RelationNumber,
    pub subject_type: String,
    /// The subject is everybody of the type.
    pub is_everybody: bool,
    pub subject_relation: Option<RelationNumber>,
    /// The number of tuples.
    pub count: u64,
    /// The number of those of the source that is asked for.
    pub of_source: u64,
}

/// Counts the tuples of a source.
pub async fn count_of(tx: &mut Tx, source: &str) -> Result<usize, StoreError> {
    // The row of a deleted tuple has no source, so that it does not count.
    const SQL: &str = "SELECT count(*) FROM relations WHERE tenant_id = $1 AND source = $2";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant, source)?;
    Ok(row.and_then(|(count,)| usize::try_from(count).ok()).unwrap_or_default())
}

/// Returns the tuples of a source that have a shape.
pub(super) async fn of_shape(
    tx: &mut Tx,
    source: &str,
    shape: &TupleShape,
) -> Result<Vec<StoredTuple>, StoreError> {
    const SQL: &str = "SELECT object_type, object_id, relation, subject_type, subject_id, \
        subject_relation, expires_at, source, sync, revision, updated_at, is_deleted \
        FROM relations WHERE tenant_id = $1 AND source = $2 AND object_type = $3 \
        AND relation = $4 AND subject_type = $5 AND (subject_id = '*') = $6 \
        AND subject_relation = $7 AND NOT is_deleted";
    let TupleShape { object_type, relation, subject_type, is_everybody, subject_relation, .. } =
        shape;
    let related = stored_number(*subject_relation);
    let number = i64::from(relation.0);
    let tenant = &tx.tenant;
    Ok(fetch_all!(
        tx,
        StoredTuple,
        SQL,
        tenant,
        source,
        object_type,
        number,
        subject_type,
        *is_everybody,
        related
    )?)
}

/// Counts the tuples of a type of objects by their shapes, and those of `source`. Reads all of them.
pub async fn shapes(
    tx: &mut Tx,
    object_type: &str,
    source: Option<&str>,
) -> Result<Vec<TupleShape>, StoreError> {
    const SQL: &str = "SELECT relation, subject_type, subject_id = '*', subject_relation, count(*), \
        count(CASE WHEN source = CAST($3 AS TEXT) THEN 1 END) \
        FROM relations WHERE tenant_id = $1 AND object_type = $2 AND NOT is_deleted \
        GROUP BY relation, subject_type, subject_id = '*', subject_relation";
    let rows = fetch_all!(tx, ShapeColumns, SQL, &tx.tenant, object_type, source)?;
    rows.into_iter().map(|columns| shape(object_type, columns)).collect()
}

/// The relation, the type of the subject, whether it is everybody of that type, the relation of all who are meant, the number of
/// tuples, and the number of those of the source.
type ShapeColumns = (i64, String, bool, i64, i64, i64);

fn shape(
    object_type: &str,
    (number, subject_type, is_everybody, subject_relation, count, of_source): ShapeColumns,
) -> Result<TupleShape, StoreError> {
    let corrupt = StoreError::Corrupt { what: "relations.relation" };
    Ok(TupleShape {
        object_type: object_type.to_owned(),
        relation: relation(number)?.ok_or(corrupt)?,
        subject_type,
        is_everybody,
        subject_relation: relation(subject_relation)?,
        count: u64::try_from(count).unwrap_or_default(),
        of_source: u64::try_from(of_source).unwrap_or_default(),
    })
}
