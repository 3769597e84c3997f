//! The faults that keep SQLite from writing its file.

/// Returns what keeps SQLite from writing, by the code of the error (<https://www.sqlite.org/rescode.html>).
pub(crate) fn sqlite_fault(error: &sqlx::Error) -> Option<&'static str> {
    let sqlx::Error::Database(error) = error else { return None };
    let code: u32 = error.code()?.parse().ok()?;
    // An extended code has the primary one in its last byte.
    match code & 0xff {
        // SQLSTATE codes of PostgreSQL may be numbers, too.
        _ if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_none() => None,
        8 => Some("the database is read-only"),
        13 => Some("the disk is full"),
        14 => Some("the file of the database cannot be opened"),
        // Of the faults of a disk those of a write, of its synchronization, and of a change of a file's size.
        10 if matches!(code >> 8, 3..=6 | 19) => Some("the disk is full or fails"),
        _ => None,
    }
}
