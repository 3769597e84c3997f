-- The part of the bytes of a pattern that the named conditions have which its policies use, each once.
ALTER TABLE plan_sizes ADD COLUMN condition_bytes BIGINT NOT NULL DEFAULT 0;
