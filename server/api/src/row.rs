//! Rows of the route table. A row says everything about its route: the router, the API document and the limits of a
//! request follow from it.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Extension, Request};
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use portcullis_limits::Class;
use portcullis_runtime::app::App;
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, Operation};
use utoipa::openapi::{RefOr, Schema};

use crate::allowed_methods::{allowed, not_allowed};
use crate::body_budget::{BodyBudget, MAX_UPLOAD};
use crate::completion::run_to_completion;
use crate::handler_parameters::{HandlerParameters, names_in_query};
use crate::raw_body::BodyLimits;
use crate::upload::is_form;

/// The paths below which a route refuses query parameters that it does not know.
const STRICT: &str = "/api/v1/";

/// The most bytes of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MaxBody {
    /// 1 MiB.
    Small,
    /// 8 MiB: 10,000 items of 800 bytes, or a thousand entities of 8 KiB.
    Items,
    /// The setting for applies.
    Apply,
    /// The largest module with its manifest if the body is a form, and otherwise 1 MiB.
    Upload,
}

impl MaxBody {
    /// Returns the number for a request with these headers.
    fn bytes(self, headers: &HeaderMap, budget: &BodyBudget) -> usize {
        match self {
            Self::Upload if is_form(headers) => MAX_UPLOAD,
            Self::Small | Self::Upload => 1 << 20,
            Self::Items => 8 << 20,
            Self::Apply => budget.largest_apply(),
        }
    }
}

/// The facts about a route that the extractors of a request know, as an extension of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteFacts {
    /// The class of its requests; `None` if no caller takes a place.
    pub(crate) class: Option<Class>,
    /// Returns the names of all query parameters; `None` if the route ignores those that it does not know.
    pub(crate) known_query: Option<fn() -> Vec<String>>,
}

/// A handler's own description of itself for the API document.
pub(crate) struct Description {
    pub(crate) path: String,
    pub(crate) methods: Vec<HttpMethod>,
    pub(crate) operation: Operation,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
}

/// A row: a route with its handler.
pub(crate) struct Row {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) operation: Operation,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
    handler: MethodRouter<App>,
}

/// Returns the row of a route: its method and path, the class of its requests, its largest body, and its handler. The
/// handler's parameters say the right of the caller and what is in the query.
macro_rules! row {
    ($method:ident $path:expr, $class:expr, $max_body:expr, $handler:path) => {{
        let mut schemas = Vec::new();
        let (path, operation, methods) = utoipa_axum::routes!(@resolve_types $handler : schemas);
        let description = $crate::row::Description { path, methods, operation, schemas };
        let method = (http::Method::$method, axum::routing::MethodFilter::$method);
        $crate::row::Row::new(method, $path, ($class, $max_body), $handler, description)
    }};
}

pub(crate) use row;

impl Row {
    /// Returns the row. See [`row!`].
    pub(crate) fn new<H, P>(
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
        let known_query = path.starts_with(STRICT).then_some(names_in_query::<P> as _);
        let facts = RouteFacts { class, known_query };
        let handler = MethodRouter::new().on(filter, Routed { handler, facts, max_body });
        Self { method, path, operation, schemas, handler }
    }

    /// Returns the row with an extension of its requests.
    pub(crate) fn with(self, extension: impl Clone + Send + Sync + 'static) -> Self {
        Self { handler: self.handler.layer(Extension(extension)), ..self }
    }
}

/// Returns the router of `rows`.
pub(crate) fn router(rows: Vec<Row>) -> Router<App> {
    let mut paths: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in rows {
        paths.entry(row.path).or_default().push(row);
    }
    paths.into_iter().fold(Router::new(), |router, (path, rows)| {
        let allow = allowed(rows.iter().map(|row| &row.method));
        let handlers = rows.into_iter().map(|row| row.handler);
        let handlers = handlers.fold(MethodRouter::new(), MethodRouter::merge);
        router.route(path, handlers.fallback(move || async move { not_allowed(allow) }))
    })
}

/// A handler that gives each request the facts of its route. It is not a layer: each layer of axum costs a check two
/// allocations.
#[derive(Clone)]
struct Routed<H> {
    handler: H,
    facts: RouteFacts,
    max_body: MaxBody,
}

impl<H, P> Handler<P, App> for Routed<H>
where
    H: Handler<P, App, Future = BoxFuture<'static, Response>>,
{
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        let Self { handler, facts, max_body } = self;
        let (mut parts, body) = request.into_parts();
        if let Some(limits) = parts.extensions.get_mut::<BodyLimits>() {
            limits.allow(|budget| max_body.bytes(&parts.headers, budget));
        }
        parts.extensions.insert(facts);
        let answer = handler.call(Request::from_parts(parts, body), app);
        match facts.class {
            None | Some(Class::Checks) => answer,
            Some(Class::Operator | Class::Management | Class::Uploads) => {
                Box::pin(run_to_completion(answer))
            }
        }
    }
}
