-- `merge` keeps the records of the kinds that a draft names, where it does not name them; `replace` does not.
ALTER TABLE drafts ADD COLUMN mode TEXT NOT NULL DEFAULT 'replace';
