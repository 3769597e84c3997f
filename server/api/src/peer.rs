//! The other end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use crate::recipient::ConnectionAnswers;

/// The peer of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Behind a proxy it is the address of the proxy.
    pub(crate) address: IpAddr,
    /// The answers that the peer has not taken yet.
    pub(crate) answers: Arc<ConnectionAnswers>,
}
