-- The number of entities of the source when the sync began. Syncs that go on have none: their ends count what they delete.

ALTER TABLE entity_syncs ADD COLUMN entities INTEGER NOT NULL DEFAULT 0;
