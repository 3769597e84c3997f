//! The address of the other end of a connection.

use std::net::IpAddr;

/// The address of the peer of a connection, as an extension of each of its requests. Behind a proxy it is the address
/// of the proxy.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub IpAddr);
