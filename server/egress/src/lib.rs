//! Outgoing HTTP requests.
//!
//! A tenant chooses the address of a webhook or of a key set, and the service runs inside the operator's network. A
//! guarded [`Client`] reaches only the addresses that the egress rules allow.

mod client;
mod config;
mod names;

pub use client::{Answer, Client, RequestError};
pub use config::EgressConfig;
pub use names::{Lookup, NameUse, Names};
pub use reqwest::multipart;
