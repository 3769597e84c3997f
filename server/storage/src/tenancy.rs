//! Tenants with their settings, providers, keys and secrets.

pub mod encryption;
pub mod providers;
pub mod secrets;
pub mod service_keys;
pub mod tenant_settings;
pub mod tenants;
