//! Macros that run one statement on either database: the only code, beside the transaction itself, that knows which
//! database is behind a transaction.

use crate::transactions::error::StoreError;

/// Runs one statement on the database of the transaction.
macro_rules! on_database {
    ($tx:expr, $query:expr, $run:ident) => {
        match &mut $tx.inner {
            $crate::transactions::tx::Inner::Sqlite(connection) => {
                $tx.write_fault.noting($query.$run(&mut **connection).await)
            }
            $crate::transactions::tx::Inner::Postgres(connection) => {
                $query.$run(&mut **connection).await
            }
        }
    };
}

/// Runs a statement and gives all its rows as `$row`.
macro_rules! fetch_all {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::transactions::macros::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_all
        )
    };
}

/// Runs a statement and gives its first row as `$row`, or `None`.
macro_rules! fetch_optional {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::transactions::macros::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_optional
        )
    };
}

/// Runs a statement and gives the number of rows that it changed.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        // Not by `on_database`, because the outcomes of the two databases have different types.
        match &mut $tx.inner {
            $crate::transactions::tx::Inner::Sqlite(connection) => {
                let done = sqlx::query($sql)$(.bind($bind))*.execute(&mut **connection).await;
                $tx.write_fault.noting(done).map(|done| done.rows_affected())
            }
            $crate::transactions::tx::Inner::Postgres(connection) => sqlx::query($sql)$(.bind($bind))*
                .execute(&mut **connection).await.map(|done| done.rows_affected()),
        }
    };
}

/// Declares a struct whose fields are read from the columns of the same names. The derive macro of sqlx does the same,
/// but it builds both database drivers a second time, for the compiler. A field after `;` has no column, and its default.
///
/// `row! { struct Row as columns { … } }` also defines the macro `columns!()`, the list of the columns, which [`select`]
/// writes. No statement says `*`: PostgreSQL refuses to repeat a prepared one after a migration of a newer version adds a
/// column.
macro_rules! row {
    ($(#[$about:meta])* struct $row:ident as columns {
        $first:ident: $first_type:ty, $($field:ident: $type:ty,)*
    }) => {
        macro_rules! columns {
            () => { concat!(stringify!($first) $(, ", ", stringify!($field))*) };
        }
        $crate::transactions::macros::row! {
            $(#[$about])* struct $row { $first: $first_type, $($field: $type,)* }
        }
    };
    ($(#[$about:meta])* $visibility:vis struct $row:ident {
        $($(#[$about_field:meta])* $of_field:vis $field:ident: $type:ty,)+
        $(; $(#[$about_made:meta])* $of_made:vis $made:ident: $made_type:ty,)?
    }) => {
        $(#[$about])* $visibility struct $row {
            $($(#[$about_field])* $of_field $field: $type,)+
            $($(#[$about_made])* $of_made $made: $made_type,)?
        }
        $crate::transactions::macros::row!(@read $row { $($field),+ $(; $made)? } from sqlx::sqlite::SqliteRow);
        $crate::transactions::macros::row!(@read $row { $($field),+ $(; $made)? } from sqlx::postgres::PgRow);
    };
    (@read $row:ident { $($field:ident),+ $(; $made:ident)? } from $source:ty) => {
        impl sqlx::FromRow<'_, $source> for $row {
            fn from_row(row: &$source) -> Result<Self, sqlx::Error> {
                use sqlx::Row as _;
                Ok(Self {
                    $($field: row.try_get(stringify!($field))?,)+
                    $($made: Default::default(),)?
                })
            }
        }
    };
}

/// Declares how a record is read from the columns of a table: each member from the column of the same name, as [`ColumnValue`]
/// says for its type. A member that is a struct names its own columns.
///
/// `stored! { RoleRecord as Row of "roles" { name, … } }` defines `Row`, which statements give, and the macro `columns!()` of
/// [`row`].
///
/// [`ColumnValue`]: crate::transactions::column_values::ColumnValue
macro_rules! stored {
    ($record:ident as $row:ident of $table:literal {
        $first:ident $(, $field:ident $(: $inner:ident { $($part:ident),+ })?)* $(,)?
    }) => {
        macro_rules! columns {
            () => { concat!(
                stringify!($first)
                $(, ", ", $crate::transactions::macros::stored!(@name $field $(: $($part),+)?))*
            ) };
        }

        struct $row(Result<$record, StoreError>);

        impl TryFrom<$row> for $record {
            type Error = StoreError;

            fn try_from(row: $row) -> Result<Self, StoreError> {
                row.0
            }
        }

        $crate::transactions::macros::stored!(
            @read $record, $row, $table, sqlx::sqlite::SqliteRow,
            { $first $(, $field $(: $inner { $($part),+ })?)* }
        );
        $crate::transactions::macros::stored!(
            @read $record, $row, $table, sqlx::postgres::PgRow,
            { $first $(, $field $(: $inner { $($part),+ })?)* }
        );
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident : $first:ident $(, $part:ident)*) => {
        concat!(stringify!($first) $(, ", ", stringify!($part))*)
    };
    (@read $record:ident, $row:ident, $table:literal, $source:ty, {
        $($field:ident $(: $inner:ident { $($part:ident),+ })?),+
    }) => {
        impl sqlx::FromRow<'_, $source> for $row {
            fn from_row(row: &$source) -> Result<Self, sqlx::Error> {
                let read = || Ok($record {
                    $($field: $crate::transactions::macros::stored!(
                        @value row, $table, $field $(: $inner { $($part),+ })?
                    )),+
                });
                Ok(Self(read()))
            }
        }
    };
    (@value $from:ident, $table:literal, $field:ident) => {
        $crate::transactions::column_values::ColumnValue::read(sqlx::Row::try_get($from, stringify!($field))?)
            .ok_or(StoreError::Corrupt { what: concat!($table, ".", stringify!($field)) })?
    };
    (@value $from:ident, $table:literal, $field:ident : $inner:ident { $($part:ident),+ }) => {
        $inner { $($part: $crate::transactions::macros::stored!(@value $from, $table, $part)),+ }
    };
}

/// The statement that selects the columns of the file's `row!` from `$from`.
macro_rules! select {
    ($from:expr) => {
        concat!("SELECT ", columns!(), " ", $from)
    };
}

/// Makes a statement whose part `$from` ends with a table. SQLite takes the index `$index` of the table: without statistics
/// it prefers the primary key, and reads all rows of the tenant.
macro_rules! indexed {
    ($from:literal, $index:ident, $rest:literal) => {
        $crate::transactions::tx::Statements {
            sqlite: concat!($from, " INDEXED BY ", stringify!($index), " ", $rest),
            postgres: concat!($from, " ", $rest),
        }
    };
}

pub(crate) use {execute, fetch_all, fetch_optional, indexed, on_database, row, select, stored};

/// Returns the record of a row, if there is one.
pub(crate) fn record<R, T: TryFrom<R>>(row: Option<R>) -> Result<Option<T>, StoreError>
where
    StoreError: From<T::Error>,
{
    Ok(row.map(T::try_from).transpose()?)
}

/// Returns the records of rows.
pub(crate) fn records<R, T: TryFrom<R>>(rows: Vec<R>) -> Result<Vec<T>, StoreError>
where
    StoreError: From<T::Error>,
{
    rows.into_iter().map(|row| Ok(T::try_from(row)?)).collect()
}
