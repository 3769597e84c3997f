-- Files of the record of decisions that a process stores before the manifest names them: what stays of them after a failure is
-- removed.

CREATE TABLE decision_uploads (
    path     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    begun_at BIGINT  NOT NULL,
    -- The file goes: the manifest must not name it any more.
    leaving  BOOLEAN NOT NULL DEFAULT FALSE
);

ALTER TABLE decision_uploads ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_uploads FORCE ROW LEVEL SECURITY;
CREATE POLICY of_the_service ON decision_uploads USING (portcullis_may_see('*'));

-- An erasure goes on until no file has such a record. `records` are those that are gone and that nobody was told of.
ALTER TABLE decision_erasures ADD COLUMN pending BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE decision_erasures ADD COLUMN records BIGINT NOT NULL DEFAULT 0;
