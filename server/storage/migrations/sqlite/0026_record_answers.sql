-- What replicas answer when one of them asks for decisions that are not at rest. SQLite has one process, so that the table stays
-- empty: it lets every statement be written once.

CREATE TABLE record_answers (
    tenant_id TEXT    NOT NULL,
    question  BLOB    NOT NULL,
    -- The number of the replica that answers.
    replica   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    -- Whether the records are all that the question asks for.
    complete  BOOLEAN NOT NULL,
    records   BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, question, replica)
);

CREATE INDEX record_answers_by_age ON record_answers (at);
