//! A visit: a request of somebody with a session for a page. It is what a handler of a page gets.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use http::header::ACCEPT;
use http::request::Parts;
use http::{Method, Uri};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portcullis_auth::{CheckCaller, Manager};
use portcullis_http::error::ApiError;
use portcullis_http::form_body::FormBody;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::query::fault_of;
use portcullis_http::request_context::RequestContext;
use portcullis_http::row::Row;
use portcullis_http::session_caller::{admit, sent_with};
use portcullis_limits::{Class, RequestPlace};
use portcullis_model::audit::Origin;
use portcullis_operations::sessions::live::Session;
use portcullis_operations::sessions::providers::ConsoleTenant;
use portcullis_operations::sessions::{SessionProof, origin};
use portcullis_runtime::app::App;

use crate::address::{Address, NO_TENANT, see_other};
use crate::cookies::Cookies;
use crate::frame::{Frame, Signed};
use crate::next::parameter;
use crate::proved::{Proved, other_tenants, proved};
use crate::stranger::Stranger;
use crate::{forms, headers, problem};

/// A request of somebody with a session.
pub(crate) struct Visit {
    pub(crate) app: App,
    pub(crate) address: Address,
    pub(crate) tenant: ConsoleTenant,
    pub(crate) session: Session,
    pub(crate) proof: SessionProof,
    /// The person, as use cases take it.
    pub(crate) caller: CheckCaller,
    pub(crate) uri: Uri,
    pub(crate) path: HashMap<String, String>,
    /// The fields of a form; none without one.
    pub(crate) form: FormBody,
    pub(crate) frame: Frame,
    pub(crate) is_manager: bool,
    pub(crate) context: RequestContext,
    _place: RequestPlace,
}

impl Visit {
    /// Returns what the path has as `name`.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the parameter `name` of the query; empty without one.
    pub(crate) fn parameter(&self, name: &str) -> String {
        parameter(&self.uri, name).unwrap_or_default()
    }

    /// Returns the parameter `cursor` of the query; `None` on the first page.
    pub(crate) fn cursor(&self) -> Option<String> {
        parameter(&self.uri, "cursor").filter(|cursor| !cursor.is_empty())
    }

    /// Returns the person, as use cases of decisions take it for another thread.
    pub(crate) fn asker(&self) -> CheckCaller {
        CheckCaller::Member(Arc::clone(&self.session.holder))
    }

    /// Returns the person as a manager of the tenant.
    ///
    /// # Errors
    /// The person does not manage it.
    pub(crate) fn manager(&self) -> Result<Manager, ApiError> {
        let manager = self.session.holder.to_manager(None, &self.app.manager_roles)?.in_session();
        let RequestContext { address, id, deadline, .. } = &self.context;
        Ok(manager.with_request(*address, Some(id.text()), deadline.instant()))
    }

    /// Returns the path of a page of the tenant.
    pub(crate) fn page(&self, page: &str) -> String {
        format!("{}{page}", self.address.folder(&self.tenant.name))
    }

    /// Returns the author of what the person does.
    pub(crate) fn origin(&self) -> Origin {
        sent_with(origin(&self.session.record.subject), &self.context)
    }

    /// Returns the credential of an answer that goes on.
    pub(crate) fn credential(&self) -> LiveCredential {
        LiveCredential::of_session(&self.app, self.proof.clone())
    }

    /// Sends the browser to a page of the tenant, which shows `word` in its status.
    pub(crate) fn done(&self, page: &str, word: &'static str) -> Response {
        let mut answer = see_other(&self.page(page));
        Cookies::of(&self.address).set_word(answer.headers_mut(), word);
        answer
    }
}

/// The answer of a handler.
type Answer = BoxFuture<'static, Result<Response, ApiError>>;

/// A function that answers visits. Its parameters say for whom the page is: with a [`Manager`] it is for managers alone.
pub(crate) trait Handler<Right>: Clone + Send + Sync + 'static {
    fn answer(&self, visit: Visit) -> Answer;
}

impl<F, Fut> Handler<Visit> for F
where
    F: Fn(Visit) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, ApiError>> + Send + 'static,
{
    fn answer(&self, visit: Visit) -> Answer {
        self(visit).boxed()
    }
}

impl<F, Fut> Handler<Manager> for F
where
    F: Fn(Visit, Manager) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, ApiError>> + Send + 'static,
{
    fn answer(&self, visit: Visit) -> Answer {
        match visit.manager() {
            Ok(manager) => self(visit, manager).boxed(),
            Err(refused) => ready(Err(refused)).boxed(),
        }
    }
}

/// Returns the row of a page that `handler` answers. `known` are the parameters of its query.
pub(crate) fn page<R>(
    path: &'static str,
    known: &'static [&'static str],
    handler: impl Handler<R>,
) -> Row {
    Row::page(path, Some(Class::Management), handled(known, handler))
}

/// Returns the row of a form that `handler` answers.
pub(crate) fn form<R>(path: &'static str, handler: impl Handler<R>) -> Row {
    Row::form(path, Some(Class::Management), handled(&[], handler))
}

/// Returns a function of axum that makes the visit, and shows what fails in the frame.
fn handled<R>(
    known: &'static [&'static str],
    handler: impl Handler<R>,
) -> impl Fn(State<App>, Request) -> BoxFuture<'static, Response> + Clone + Send + Sync + 'static {
    move |State(app): State<App>, request: Request| -> BoxFuture<'static, Response> {
        let handler = handler.clone();
        Box::pin(async move {
            let visit = match arrive(app, request, known).await {
                Ok(visit) => visit,
                Err(mut answer) => {
                    headers::add(&mut answer);
                    return *answer;
                }
            };
            // Kept for a refusal: the handler takes the visit.
            let (frame, context) = (visit.frame.clone(), visit.context.clone());
            match handler.answer(visit).await {
                Ok(answer) => frame.finish(answer),
                Err(error) => problem::page(&frame, &context, &error),
            }
        })
    }
}

/// Makes the visit of a request. The error is the answer: a way to sign in, or a page that says what is wrong.
async fn arrive(app: App, request: Request, known: &[&str]) -> Result<Visit, Box<Response>> {
    let (mut parts, body) = request.into_parts();
    // Without a place, which is taken below, when the person is known.
    let stranger = Stranger::without_place(&mut parts, &app).await;
    let Stranger { address, context, path, frame, headers, uri, .. } =
        stranger.map_err(|error| Box::new(error.into_response()))?;
    let name = path.get("t").map(String::as_str).unwrap_or_default();
    if name == NO_TENANT {
        return Err(refusal(&frame, &context, &ApiError::not_found("page")));
    }
    let found = proved(&app, (&address, &context), &headers, name).await;
    let found = found.map_err(|error| refusal(&frame, &context, &error))?;
    let Some(Proved { tenant, proof, session }) = found else {
        return Err(Box::new(sign_in_first(&parts, &address, name)));
    };
    let is_manager = session.holder.must_manage(None, &app.manager_roles).is_ok();
    let signed = Signed::new(&app, &tenant, &session, &proof, is_manager);
    // From here on, a refusal is shown in the frame of the person.
    let frame = frame.signed(&uri, signed);
    let person = (&*tenant.id, &*session.record.subject);
    let admitted = admit(&app, &context, &parts.method, person).await;
    let place = admitted.map_err(|error| refusal(&frame, &context, &error))?;
    // Not before there is a place: it asks the database.
    let others = other_tenants(&app, &address, &headers, &tenant).await;
    let others = others.map_err(|error| refusal(&frame, &context, &error))?;
    let frame = frame.beside(others);
    let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
    if let Some(fault) = fault_of(&uri, &known) {
        return Err(refusal(&frame, &context, &ApiError::bad_request(fault)));
    }
    // The body is read last, when everything else about the request is in order.
    let mut form = FormBody::default();
    if parts.method == Method::POST {
        let read = FormBody::read(Request::from_parts(parts, body)).await;
        form = read.map_err(|error| refusal(&frame, &context, &error))?;
        if !forms::is_own(&app, &address, &headers, &form, proof.hash()) {
            return Err(refusal(&frame, &context, &problem::foreign_form()));
        }
    }
    Ok(Visit {
        caller: CheckCaller::Member(Arc::clone(&session.holder)),
        app,
        address,
        tenant,
        session,
        proof,
        uri,
        path,
        form,
        frame,
        is_manager,
        context,
        _place: place,
    })
}

fn refusal(frame: &Frame, context: &RequestContext, error: &ApiError) -> Box<Response> {
    Box::new(problem::page(frame, context, error))
}

/// Answers a request without a session: a page leads to the sign-in, and comes back from there.
fn sign_in_first(parts: &Parts, address: &Address, tenant: &str) -> Response {
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let accept = accept.unwrap_or_default();
    let is_for_script = accept.contains("application/json") || accept.contains("text/event-stream");
    // A script shows no sign-in, and what a form sent would be lost on the way there.
    if !parts.method.is_safe() || is_for_script {
        return ApiError::NoCredential.into_response();
    }
    let wanted = parts.uri.path_and_query().map_or("/", |wanted| wanted.as_str());
    let wanted = address.path(wanted);
    let to = utf8_percent_encode(&wanted, NON_ALPHANUMERIC);
    see_other(&format!("{}sign-in?to={to}", address.folder(tenant)))
}
