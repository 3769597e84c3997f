-- What a change was: the record before and after it, the name of the service key, and the origin of an apply.
ALTER TABLE audit_records ADD COLUMN key_name TEXT;
ALTER TABLE audit_records ADD COLUMN before_change TEXT;
ALTER TABLE audit_records ADD COLUMN after_change TEXT;
ALTER TABLE audit_records ADD COLUMN source TEXT;
