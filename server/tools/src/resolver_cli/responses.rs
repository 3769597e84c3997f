//! Endpoints with canned responses in place of requests.

use std::sync::Arc;

use futures_util::future::FutureExt as _;
use portcullis_bundle::CannedResponses;
use portcullis_engine::resolver_contract::EndpointMethod;
use portcullis_resolver_host::{Endpoints, HttpRequest, HttpResponse, SendError, Sending};

/// Returns `granted`, with `responses` in place of requests to the endpoints that they name.
pub(crate) fn scripted(
    responses: CannedResponses,
    granted: Arc<dyn Endpoints>,
) -> Arc<dyn Endpoints> {
    Arc::new(ScriptedEndpoints { responses, granted })
}

/// Endpoints, some of which have fixed responses.
struct ScriptedEndpoints {
    responses: CannedResponses,
    granted: Arc<dyn Endpoints>,
}

impl Endpoints for ScriptedEndpoints {
    fn has(&self, endpoint: &str) -> bool {
        self.granted.has(endpoint)
    }

    fn send<'a>(&'a self, endpoint: &'a str, request: HttpRequest, limit: usize) -> Sending<'a> {
        if !self.responses.has(endpoint) {
            return self.granted.send(endpoint, request, limit);
        }
        let method = EndpointMethod::from(request.method);
        let request = format!("{} {}", method.into_str(), request.path);
        let found = self.responses.get(endpoint, &request).map(|canned| HttpResponse {
            status: canned.status,
            headers: vec![],
            body: canned.body.clone(),
        });
        let response = found.ok_or_else(|| {
            SendError::Refused(format!(
                "`responses` has no response for `{request}` of the endpoint `{endpoint}`"
            ))
        });
        async { response }.boxed()
    }
}
