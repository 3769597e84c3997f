-- The domain of the checks of a service key; null if each of its checks names a domain.
ALTER TABLE service_keys ADD COLUMN domain TEXT;
