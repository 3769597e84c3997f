-- An erasure takes the deliveries of denied checks, too: `deliveries` are those that are gone, `sent` those of them that their
-- receivers may have, and nobody was told of either. Reports that began before `ended_at` are forgotten.

ALTER TABLE decision_erasures ADD COLUMN deliveries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE decision_erasures ADD COLUMN sent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE decision_erasures ADD COLUMN ended_at BIGINT;
