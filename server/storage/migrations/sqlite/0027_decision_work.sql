-- Files of the record of decisions that a process stores before the manifest names them: what stays of them after a failure is
-- removed.

CREATE TABLE decision_uploads (
    path     TEXT    NOT NULL PRIMARY KEY,
    begun_at INTEGER NOT NULL,
    -- The file goes: the manifest must not name it any more.
    leaving  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- An erasure goes on until no file has such a record. `records` are those that are gone and that nobody was told of.
ALTER TABLE decision_erasures ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE decision_erasures ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
