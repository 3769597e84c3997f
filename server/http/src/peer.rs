//! The other end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;

use crate::error::ApiError;
use crate::recipient::ConnectionAnswers;

/// The peer of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Behind a proxy it is the address of the proxy.
    pub(crate) address: IpAddr,
    /// The answers that the peer has not taken yet.
    pub(crate) answers: Arc<ConnectionAnswers>,
    /// Most bytes of the header of a request.
    pub(crate) most_header: usize,
}

impl Peer {
    /// Returns the refusal of a request whose header is too large.
    pub(crate) fn refusal(&self, request: &Parts) -> Option<ApiError> {
        let most = self.most_header;
        (header_bytes(request) > most).then_some(ApiError::HeaderTooLarge(most))
    }
}

/// Returns the bytes of a header: its target, its names and its values, as they are written in HTTP/1.
fn header_bytes(request: &Parts) -> usize {
    let fields = request.headers.iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    let target = request.uri.path_and_query().map_or(0, |target| target.as_str().len());
    target + fields.sum::<usize>()
}
