//! Responses that a file of checks gives, in place of an endpoint's.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_engine::Json;
use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::EndpointMethod;
use portcullis_resolver_host::{Endpoints, HttpRequest, HttpResponse, SendError};

/// By endpoint, and by method and path: `{"directory": {"GET people/ann": {"status": 200, "body": …}}}`.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses(BTreeMap<String, BTreeMap<String, HttpResponse>>);

impl Responses {
    pub(super) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        each(json, at, problems, |json, at, problems| each(json, at, problems, response)).map(Self)
    }

    /// The endpoints of `granted`, of which those that this names are answered from here.
    pub(super) fn over(&self, granted: Arc<dyn Endpoints>) -> Arc<dyn Endpoints> {
        Arc::new(Scripted { responses: self.clone(), granted })
    }
}

struct Scripted {
    responses: Responses,
    granted: Arc<dyn Endpoints>,
}

impl Endpoints for Scripted {
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
        let asked = format!("{} {}", EndpointMethod::from(request.method).as_str(), request.path);
        let found = responses.get(&asked).cloned();
        let missing =
            || SendError::Refused(format!("`responses` has no `{asked}` of `{endpoint}`"));
        let response = found.ok_or_else(missing);
        async { response }.boxed()
    }
}

/// `{"status": 200, "body": …}`: a body that is a string is that text, any other is JSON.
fn response(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<HttpResponse> {
    let mut fields = Fields::open(json, at, problems)?;
    let status = fields.required("status", |json, at, problems| {
        let number = if let Json::Number(number) = json { number.as_i32() } else { None };
        let status = number.and_then(|number| u16::try_from(number).ok());
        let status = status.filter(|status| (100..600).contains(status));
        if status.is_none() {
            problems.expected(at, "a status from 100 to 599");
        }
        status
    });
    let body = fields.optional("body", |json, _, _| {
        Some(json.as_str().map_or_else(|| json.to_string(), str::to_owned).into_bytes())
    });
    fields.close();
    Some(HttpResponse { status: status?, headers: vec![], body: body.unwrap_or_default() })
}

/// Every member of an object.
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
    let read = |(name, json): &(std::borrow::Cow<'_, str>, Json<'_>)| {
        Some((name.to_string(), read(json, &at.key(name), problems)?))
    };
    let all: Vec<Option<_>> = members.iter().map(read).collect();
    all.into_iter().collect()
}
