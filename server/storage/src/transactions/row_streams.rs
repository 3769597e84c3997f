//! Statements whose rows are read one after the other, as they are asked for: for content that is too large to be in memory
//! at once.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::transactions::error::StoreError;

/// Records that are read as they are asked for. The transaction does nothing else meanwhile.
pub type Records<'t, T> = BoxStream<'t, Result<T, StoreError>>;

/// Runs a statement and gives its rows, each as a `$row`, as [`Records`].
macro_rules! stream_rows {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::transactions::row_streams::records::<$row, _>(match &mut $tx.inner {
            $crate::transactions::tx::Inner::Sqlite(connection) => {
                sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch(&mut **connection)
            }
            $crate::transactions::tx::Inner::Postgres(connection) => {
                sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch(&mut **connection)
            }
        })
    };
}

pub(crate) use stream_rows;

/// Returns the records of `rows`.
pub(crate) fn records<'t, R, T>(rows: BoxStream<'t, Result<R, sqlx::Error>>) -> Records<'t, T>
where
    R: Send + 't,
    T: TryFrom<R> + Send + 't,
    StoreError: From<T::Error>,
{
    rows.map(|row| Ok(T::try_from(row?)?)).boxed()
}
