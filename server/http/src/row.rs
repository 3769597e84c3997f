//! Rows of the route table. A row says everything about its route: the router, the API document and the limits of a
//! request follow from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Request};
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, any};
use futures_util::future::BoxFuture;
use http::Method;
use portcullis_limits::{Class, RequestKind};
use portcullis_runtime::app::App;
use portcullis_traces::name_request;
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, Operation};
use utoipa::openapi::{RefOr, Schema};

use crate::allowed_methods::{allowed, not_allowed};
use crate::completion::run_to_completion;
use crate::handler_parameters::{HandlerParameters, names_in_query};
use crate::request_context::RequestContext;
use crate::route_facts::{MaxBody, RouteFacts};

/// The paths below which a route refuses query parameters that it does not know.
const STRICT: &str = "/api/v1/";

/// A handler's own description of itself for the API document.
pub struct Description {
    pub path: String,
    pub methods: Vec<HttpMethod>,
    pub operation: Operation,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

/// A row: a route with its handler.
pub struct Row {
    pub kind: RowKind,
    pub path: &'static str,
    handler: MethodRouter<App>,
}

/// The kind of a route.
pub enum RowKind {
    /// A route of the API document.
    Documented { method: Method, operation: Box<Operation>, schemas: Vec<(String, RefOr<Schema>)> },
    /// A page for a browser, a file that it loads, or a form that it sends. The API document leaves it out.
    Page(Method),
    /// A path that a proxy asks about with the method of the request that it judges. The API document leaves it out.
    AnyMethod,
}

impl RowKind {
    /// Returns the method of the route; `None` if it has every one.
    pub fn method(&self) -> Option<&Method> {
        match self {
            Self::Documented { method, .. } => Some(method),
            Self::Page(method) => Some(method),
            Self::AnyMethod => None,
        }
    }
}

/// Returns the row of a route: its method and path, the class of its requests, its largest body, and its handler. The
/// handler's parameters say the right of the caller and what is in the query.
#[macro_export]
macro_rules! row {
    ($method:ident $path:expr, $class:expr, $max_body:expr, $handler:path) => {{
        let mut schemas = Vec::new();
        let (path, operation, methods) = utoipa_axum::routes!(@resolve_types $handler : schemas);
        let description = $crate::row::Description { path, methods, operation, schemas };
        let method = (http::Method::$method, axum::routing::MethodFilter::$method);
        $crate::row::Row::new(method, $path, ($class, $max_body), $handler, description)
    }};
}

impl Row {
    /// Returns the row. See [`row!`].
    pub fn new<H, P>(
        (method, filter): (Method, MethodFilter),
        path: &'static str,
        (class, max_body): (Option<Class>, MaxBody),
        handler: H,
        description: Description,
    ) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
        P: HandlerParameters + 'static,
    {
        let Description { path: own_path, methods, mut operation, schemas } = description;
        P::describe(&mut operation);
        let own_method = json!([method.as_str().to_ascii_lowercase()]);
        debug_assert!(own_path == path && json!(methods) == own_method, "{own_path} is not {path}");
        let has_caller = operation.security.is_some();
        debug_assert_eq!(class.is_some(), has_caller, "{method} {path}: callers take places");
        let facts = RouteFacts {
            class,
            kind: request_kind(class, &method),
            max_body,
            known_query: path.starts_with(STRICT).then(names_in_query::<P>),
        };
        let handler = MethodRouter::new().on(filter, Routed::new(handler, facts, path));
        let kind = RowKind::Documented { method, operation: Box::new(operation), schemas };
        Self { kind, path, handler }
    }

    /// Returns the row of a page, whose requests are of `class`.
    pub fn page<H, P>(path: &'static str, class: Option<Class>, handler: H) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
    {
        Self::of_browser((Method::GET, MethodFilter::GET), path, class, handler)
    }

    /// Returns the row of a form that a browser sends, whose requests are of `class`.
    pub fn form<H, P>(path: &'static str, class: Option<Class>, handler: H) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
    {
        Self::of_browser((Method::POST, MethodFilter::POST), path, class, handler)
    }

    fn of_browser<H, P>(
        (method, filter): (Method, MethodFilter),
        path: &'static str,
        class: Option<Class>,
        handler: H,
    ) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
    {
        let (kind, max_body) = (request_kind(class, &method), MaxBody::Small);
        let facts = RouteFacts { class, kind, max_body, known_query: None };
        let handler = MethodRouter::new().on(filter, Routed::new(handler, facts, path));
        Self { kind: RowKind::Page(method), path, handler }
    }

    /// Returns the row of a path with every method, whose requests ask for decisions.
    pub fn any_method<H, P>(path: &'static str, max_body: MaxBody, handler: H) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
    {
        let class = Some(Class::Checks);
        let facts = RouteFacts { class, kind: RequestKind::Check, max_body, known_query: None };
        let handler = any(Routed::new(handler, facts, path));
        Self { kind: RowKind::AnyMethod, path, handler }
    }

    /// Returns the row with an extension of its requests.
    pub fn with(self, extension: impl Clone + Send + Sync + 'static) -> Self {
        Self { handler: self.handler.layer(Extension(extension)), ..self }
    }
}

/// Returns the rate that counts the requests of a route.
fn request_kind(class: Option<Class>, method: &Method) -> RequestKind {
    match (class, method) {
        (Some(Class::Checks), _) => RequestKind::Check,
        (_, &Method::GET) => RequestKind::Read,
        _ => RequestKind::Write,
    }
}

/// Returns the router of `rows`.
pub fn router(rows: Vec<Row>) -> Router<App> {
    let mut paths: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in rows {
        paths.entry(row.path).or_default().push(row);
    }
    paths.into_iter().fold(Router::new(), |router, (path, rows)| {
        let methods: Option<Vec<_>> = rows.iter().map(|row| row.kind.method()).collect();
        let allow = methods.map(|methods| allowed(methods.into_iter()));
        let handlers = rows.into_iter().map(|row| row.handler);
        let handlers = handlers.fold(MethodRouter::new(), MethodRouter::merge);
        // A row with every method leaves none to refuse.
        let Some(allow) = allow else { return router.route(path, handlers) };
        router.route(path, handlers.fallback(move || async move { not_allowed(allow) }))
    })
}

/// The handler of a route, whatever its type. Each place of axum that is generic over a handler makes the compiler prove anew
/// that its future, with all that it awaits, may change threads: most of the time that this crate takes to build.
type Answer = Arc<dyn Fn(Request, App) -> BoxFuture<'static, Response> + Send + Sync>;

/// A handler that gives each request the facts of its route. It is not a layer: each layer of axum costs a check two
/// allocations.
#[derive(Clone)]
struct Routed {
    answer: Answer,
    facts: Arc<RouteFacts>,
    path: &'static str,
}

impl Routed {
    fn new<H, P>(handler: H, facts: RouteFacts, path: &'static str) -> Self
    where
        H: Handler<P, App, Future = BoxFuture<'static, Response>>,
    {
        let answer = Arc::new(move |request, app| handler.clone().call(request, app));
        Self { answer, facts: Arc::new(facts), path }
    }
}

impl Handler<(), App> for Routed {
    type Future = BoxFuture<'static, Response>;

    fn call(self, mut request: Request, app: App) -> Self::Future {
        let Self { answer, facts, path } = self;
        let class = facts.class;
        // The path of the row: the path of a request would give each record a name of its own.
        name_request(request.method(), path);
        if let Some(context) = request.extensions_mut().get_mut::<RequestContext>() {
            context.route = Some(facts);
        }
        let answer = answer(request, app);
        match class {
            None | Some(Class::Checks) => answer,
            Some(Class::Operator | Class::Management | Class::Uploads) => {
                Box::pin(run_to_completion(answer))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::State;

    use super::*;

    async fn page(_: State<App>) {}

    #[test]
    fn a_row_with_every_method_refuses_none() {
        let page = Row::page("/console", None, self::page);
        assert_eq!(page.kind.method(), Some(&Method::GET));
        let account = format!("{:?}", router(vec![page]));
        assert!(account.contains("GET"), "{account}");
        let judged = Row::any_method("/judge/{*path}", MaxBody::Small, self::page);
        assert_eq!(judged.kind.method(), None);
        let account = format!("{:?}", router(vec![judged]));
        assert!(account.contains("allow_header: Skip"), "{account}");
    }
}
