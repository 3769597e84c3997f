//! The tenants of an installation, their keys, and what an operator looks up or repairs.

pub mod audit;
pub mod datetimes_as_texts;
pub mod key_holders;
pub mod secrets;
pub mod service_keys;
pub mod tenant_states;
pub mod tenants;
