//! Macros that run one statement on either database: the only code, beside the transaction itself, that knows which
//! database is behind a transaction.

/// Runs one statement on the database of the transaction.
macro_rules! on_database {
    ($tx:expr, $query:expr, $run:ident) => {
        match &mut $tx.inner {
            $crate::tx::Inner::Sqlite(connection) => $query.$run(&mut **connection).await,
            $crate::tx::Inner::Postgres(connection) => $query.$run(&mut **connection).await,
        }
    };
}

/// Runs a statement and gives all its rows as `$row`.
macro_rules! fetch_all {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::macros::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_all
        )
    };
}

/// Runs a statement and gives its first row as `$row`, or `None`.
macro_rules! fetch_optional {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::macros::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_optional
        )
    };
}

/// Runs a statement and gives the number of rows that it changed.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $tx.inner {
            $crate::tx::Inner::Sqlite(connection) => sqlx::query($sql)$(.bind($bind))*
                .execute(&mut **connection).await.map(|done| done.rows_affected()),
            $crate::tx::Inner::Postgres(connection) => sqlx::query($sql)$(.bind($bind))*
                .execute(&mut **connection).await.map(|done| done.rows_affected()),
        }
    };
}

/// Implements `FromRow` for a struct: each field is read from the column of the same name. The derive macro of sqlx
/// does the same, but it builds both database drivers a second time, for the compiler.
///
/// `from_row!(Row { … } as columns)` also defines the macro `columns!()`, the list of the columns for a statement. No
/// statement says `*`: PostgreSQL refuses to repeat a prepared one after a migration of a newer version adds a column.
macro_rules! from_row {
    ($row:ident { $first:ident $(, $field:ident)* $(,)? } as $columns:ident) => {
        $crate::macros::from_row!($row { $first $(, $field)* });
        macro_rules! $columns {
            () => { concat!(stringify!($first) $(, ", ", stringify!($field))*) };
        }
    };
    ($row:ident { $($field:ident),+ $(,)? }) => {
        $crate::macros::from_row!(@of sqlx::sqlite::SqliteRow, $row { $($field),+ });
        $crate::macros::from_row!(@of sqlx::postgres::PgRow, $row { $($field),+ });
    };
    (@of $source:ty, $row:ident { $($field:ident),+ }) => {
        impl sqlx::FromRow<'_, $source> for $row {
            fn from_row(row: &$source) -> Result<Self, sqlx::Error> {
                use sqlx::Row as _;
                Ok(Self { $($field: row.try_get(stringify!($field))?),+ })
            }
        }
    };
}

pub(crate) use {execute, fetch_all, fetch_optional, from_row, on_database};
