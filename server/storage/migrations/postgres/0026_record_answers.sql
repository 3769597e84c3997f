-- What replicas answer when one of them asks for decisions that are not at rest. A row lives for seconds, so that nothing is
-- lost with the table after a crash.

CREATE UNLOGGED TABLE record_answers (
    tenant_id TEXT COLLATE "C" NOT NULL,
    question  UUID    NOT NULL,
    -- The number of the replica that answers.
    replica   BIGINT  NOT NULL,
    at        BIGINT  NOT NULL,
    -- Whether the records are all that the question asks for.
    complete  BOOLEAN NOT NULL,
    records   BYTEA   NOT NULL,
    PRIMARY KEY (tenant_id, question, replica)
);

CREATE INDEX record_answers_by_age ON record_answers (at);

ALTER TABLE record_answers ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_answers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON record_answers USING (portcullis_may_see(tenant_id));
