//! The address of the client of a request.

use std::net::IpAddr;

/// The address of the client, as an extension of its request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub IpAddr);
