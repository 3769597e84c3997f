//! Pages of lists, limited by records and by bytes (`docs/semantics.md`, section 8.7).

use portcullis_model::page::{Listed, MAX_PAGE_BYTES};

use crate::transactions::error::StoreError;
use crate::transactions::macros::records;

/// Bytes that each record counts besides its long columns: ids, times, names of members.
const RECORD_BYTES: i64 = 512;

/// The statements that read a page: the sizes of its records in bytes, and the records. Both select the same rows in the
/// same order and have the same parameters, of which the last one is the limit.
pub(crate) type Pages = [&'static str; 2];

/// The [`Pages`] of the columns of the file's `row!` from `$from`. A record's size is the size of its texts `$column`.
macro_rules! pages {
    ([$($column:ident),+], $from:expr) => {
        [
            concat!(
                "SELECT CAST(0", $(" + COALESCE(octet_length(", stringify!($column), "), 0)",)+
                " AS BIGINT) ", $from
            ),
            $crate::transactions::macros::select!($from),
        ]
    };
}

/// Reads a page by the statements `$pages`: the sizes of its records, and then only the records that fit, in one snapshot.
/// The last parameter, which is not given, is the limit.
macro_rules! fetch_page {
    ($tx:expr, $row:ty, $limit:expr, $pages:expr $(, $bind:expr)* $(,)?) => {{
        let limit: i64 = $limit;
        let [sizes, records] = $pages;
        // The size of a further record tells that there are more.
        let one_more = limit.saturating_add(1);
        let sizes = $crate::transactions::macros::fetch_all!($tx, (i64,), sizes $(, $bind)*, one_more)?;
        let fit = $crate::transactions::paging::Fit::new(limit, &sizes);
        fit.listed($crate::transactions::macros::fetch_all!($tx, $row, records $(, $bind)*, fit.records)?)
    }};
}

pub(crate) use {fetch_page, pages};

/// The records that fit on a page.
#[derive(Debug, PartialEq)]
pub(crate) struct Fit {
    pub(crate) records: i64,
    pub(crate) more: bool,
}

impl Fit {
    /// Returns how many of the records with these sizes fit on a page of at most `limit`: at least one.
    pub(crate) fn new(limit: i64, sizes: &[(i64,)]) -> Self {
        let most = i64::try_from(MAX_PAGE_BYTES).unwrap_or(i64::MAX);
        let (mut records, mut bytes) = (0, 0);
        for (size,) in sizes {
            bytes += size + RECORD_BYTES;
            // This size is that of one record more than fits, which tells that there are more.
            if records == limit || (records > 0 && bytes > most) {
                return Self { records, more: true };
            }
            records += 1;
        }
        Self { records, more: false }
    }

    /// Returns the page that has these rows.
    pub(crate) fn listed<R, T: TryFrom<R>>(&self, rows: Vec<R>) -> Result<Listed<T>, StoreError>
    where
        StoreError: From<T::Error>,
    {
        Ok(Listed { records: records(rows)?, more: self.more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_its_first_limit() {
        let half = MAX_PAGE_BYTES as i64 / 2 - RECORD_BYTES;
        for (limit, sizes, records, more) in [
            (3, vec![], 0, false),
            (3, vec![1, 1, 1], 3, false),
            (3, vec![1, 1, 1, 1], 3, true),
            (1, vec![1, 1], 1, true),
            (9, vec![half, half], 2, false),
            (9, vec![half, half, 1], 2, true),
            (9, vec![half, half + 1, 1], 1, true),
            // A page has one record, however large.
            (9, vec![half * 9], 1, false),
            (9, vec![half * 9, 1], 1, true),
            (i64::MAX, vec![1; 3_000], 2_044, true),
        ] {
            let sizes: Vec<_> = sizes.into_iter().map(|size| (size,)).collect();
            assert_eq!(Fit::new(limit, &sizes), Fit { records, more }, "{limit} {sizes:?}");
        }
    }
}
