//! Responses in a file of checks. They replace requests to endpoints.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_engine::Json;
use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::EndpointMethod;
use portcullis_resolver_host::{Endpoints, HttpRequest, HttpResponse, SendError};

/// Responses by endpoint, and by method and path: `{"directory": {"GET people/ann": {"status": 200, "body": …}}}`.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses(BTreeMap<String, BTreeMap<String, HttpResponse>>);

impl Responses {
    pub(super) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        each(json, at, problems, |json, at, problems| each(json, at, problems, response)).map(Self)
    }

    /// Returns `granted`, with these responses in place of requests to the endpoints that they name.
    pub(super) fn over(&self, granted: Arc<dyn Endpoints>) -> Arc<dyn Endpoints> {
        Arc::new(ScriptedEndpoints { responses: self.clone(), granted })
    }
}

/// Endpoints of which some have fixed responses.
struct ScriptedEndpoints {
    responses: Responses,
    granted: Arc<dyn Endpoints>,
}

impl Endpoints for ScriptedEndpoints {
    fn has(&self, endpoint: &str) -> bool {
        self.granted.has(endpoint)
    }

    fn send<'a>(
        &'a self,
        endpoint: &'a str,
        request: HttpRequest,
        body_limit: usize,
    ) -> BoxFuture<'a, Result<HttpResponse, SendError>> {
        let Some(responses) = self.responses.0.get(endpoint) else {
            return self.granted.send(endpoint, request, body_limit);
        };
        let method = EndpointMethod::from(request.method);
        let request = format!("{} {}", method.as_str(), request.path);
        let found = responses.get(&request).cloned();
        let missing = || {
            SendError::Refused(format!(
                "`responses` has no response for `{request}` of the endpoint `{endpoint}`"
            ))
        };
        let response = found.ok_or_else(missing);
        async { response }.boxed()
    }
}

/// Reads `{"status": 200, "body": …}`. A string is the text of the body; any other value is its JSON.
fn response(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<HttpResponse> {
    let mut fields = Fields::open(json, at, problems)?;
    let status = fields.required("status", status);
    let body = fields.optional("body", |json, _, _| {
        Some(json.as_str().map_or_else(|| json.to_string(), str::to_owned).into_bytes())
    });
    fields.close();
    Some(HttpResponse { status: status?, headers: vec![], body: body.unwrap_or_default() })
}

fn status(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<u16> {
    let number = if let Json::Number(number) = json { number.as_i32() } else { None };
    let status = number.and_then(|number| u16::try_from(number).ok());
    let status = status.filter(|status| (100..600).contains(status));
    if status.is_none() {
        problems.expected(at, "a status from 100 to 599");
    }
    status
}

/// Reads every member of an object with `read`.
fn each<T>(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    read: impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    let Some(members) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    let read = |(name, json): &(Cow<'_, str>, Json<'_>)| {
        Some((name.to_string(), read(json, &at.key(name), problems)?))
    };
    // Every member is read, also after a fault: all faults are reported together.
    let all: Vec<Option<_>> = members.iter().map(read).collect();
    all.into_iter().collect()
}
