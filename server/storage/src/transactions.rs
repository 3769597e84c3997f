//! Transactions of one tenant: rows, pages, lists, the place in the history of writes.

pub(crate) mod audit_entry;
pub(crate) mod column_values;
pub(crate) mod error;
pub(crate) mod history;
pub(crate) mod json_list;
pub(crate) mod macros;
pub(crate) mod newest_commit;
pub(crate) mod ordered_ids;
pub(crate) mod paging;
pub(crate) mod record_changes;
pub(crate) mod row_lists;
pub(crate) mod row_streams;
pub(crate) mod sqlite_fault;
pub(crate) mod sqlite_files;
pub(crate) mod stored_cases;
pub(crate) mod stored_records;
pub(crate) mod tx;
pub(crate) mod write_fault;
pub(crate) mod write_turn;
