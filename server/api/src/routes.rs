//! The route table, one line per route.

use axum::{Extension, Router, middleware};
use portcullis_auth::Mode;
use portcullis_limits::Class;
use portcullis_runtime::app::App;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::authzen::{self, discovery, evaluation, evaluations};
use crate::body_budget::BodyBudget;
use crate::error::ApiError;
use crate::openapi::{Document, Table};
use crate::route_set::RouteSet;
use crate::service::HttpService;
use crate::unknown_parameters::KnownQueries;
use crate::{
    admin, apply, audit, batch, checks, docs, entities, filters, health, home, layers, limits,
    metrics, permissions, policies, proposals, resolvers, resources, roles, rules, search,
    service_keys, webhooks,
};

/// Returns the HTTP interface of `app`.
pub fn router(app: App, set: RouteSet, bodies: BodyBudget) -> HttpService {
    // With rates, a layer adds their headers to the answers.
    let direct_checks = set != RouteSet::Operator && !app.limits.rates.are_limited();
    let routes = routes(app.clone(), set);
    service(app, routes, bodies, direct_checks)
}

/// Returns the routes of `set`, without what is around them.
pub fn routes(app: App, set: RouteSet) -> Router {
    let (everything, document) = described_routes(&app.mode);
    let routes = match set {
        RouteSet::Everything => everything,
        RouteSet::Public => {
            let (routes, _) = public().merge(probes()).merge(page_at_root(set)).split_for_parts();
            routes.merge(document_route().split_for_parts().0.layer(Extension(document)))
        }
        RouteSet::Operator => {
            operator(&app.mode).merge(probes()).merge(page_at_root(set)).split_for_parts().0
        }
    };
    let has_rates = app.limits.rates.are_limited();
    let routes = routes.with_state(app);
    if has_rates { routes.layer(middleware::from_fn(limits::report_rates)) } else { routes }
}

/// Returns every route, and the document that describes them. The document is a route too.
pub(crate) fn described_routes(mode: &Mode) -> (Router<App>, Document) {
    let (routes, mut described) = table(mode).split_for_parts();
    let (document_itself, its_description) = document_route().split_for_parts();
    described.merge(its_description);
    let document = Document::new(described, mode);
    (routes.merge(document_itself.layer(Extension(document.clone()))), document)
}

fn document_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().at("/openapi.json", routes!(docs::document))
}

/// Returns every route but the document, each with its description.
pub(crate) fn table(mode: &Mode) -> OpenApiRouter<App> {
    public().merge(operator(mode)).merge(probes()).merge(page_at_root(RouteSet::Everything))
}

/// Returns the routes of tenants, and the pages about the API.
fn public() -> OpenApiRouter<App> {
    // A route without a class is a check, so that checks pay for no further layer.
    let decisions = OpenApiRouter::new()
        .at("/api/v1/check", routes!(checks::check))
        .at(batch::PATH, routes!(batch::check_all))
        .at("/access/v1/evaluation", routes!(evaluation::evaluation))
        .at("/access/v1/evaluations", routes!(evaluations::evaluations))
        .at(authzen::search::SUBJECTS_PATH, routes!(authzen::search::subjects))
        .at(authzen::search::RESOURCES_PATH, routes!(authzen::search::resources))
        .at(authzen::search::ACTIONS_PATH, routes!(authzen::search::actions))
        .at("/api/v1/resources/access/check", routes!(checks::legacy_check))
        .at(search::RESOURCES_PATH, routes!(search::resources))
        .at(search::SUBJECTS_PATH, routes!(search::subjects))
        .at(search::ACTIONS_PATH, routes!(search::actions));
    let access = OpenApiRouter::new()
        .at("/api/v1/plan", routes!(filters::plan))
        .at("/api/v1/permissions", routes!(permissions::list))
        .at(permissions::MATRIX_PATH, routes!(permissions::matrix))
        .route_layer(Extension(Class::Management));
    let management = OpenApiRouter::new()
        .at("/api/v1/resources", routes!(resources::register, resources::list))
        .at("/api/v1/resources/list", routes!(resources::register_all))
        .at("/api/v1/resources/{id}", routes!(resources::show, resources::delete))
        .at("/api/v1/resources/{id}/policies", routes!(resources::rules))
        .at(
            "/api/v1/resources/policies",
            routes!(rules::create, rules::list, rules::update, rules::delete),
        )
        .at("/api/v1/abac/policies", routes!(policies::create, policies::list))
        .at(
            "/api/v1/abac/policies/{id}",
            routes!(policies::show, policies::update, policies::delete),
        )
        .at("/api/v1/service-api-keys", routes!(service_keys::create, service_keys::list))
        .at("/api/v1/service-api-keys/{id}", routes!(service_keys::show, service_keys::revoke))
        .at("/api/v1/webhooks", routes!(webhooks::create, webhooks::list))
        .at("/api/v1/webhooks/{id}", routes!(webhooks::show, webhooks::update, webhooks::delete))
        .at("/api/v1/webhooks/{id}/test", routes!(webhooks::test))
        .at("/api/v1/webhooks/{id}/deliveries", routes!(webhooks::deliveries))
        .at(
            "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
            routes!(webhooks::redeliver),
        )
        .at("/api/v1/resolvers/{id}/test", routes!(resolvers::test))
        .at(entities::PATH, routes!(entities::write, entities::list))
        .at(entities::SYNC_PATH, routes!(entities::sync))
        .at("/api/v1/entities/{type}/{id}", routes!(entities::show, entities::delete))
        .at("/api/v1/roles", routes!(roles::list))
        .at("/api/v1/roles/{name}", routes!(roles::put, roles::show, roles::delete))
        .at("/api/v1/export", routes!(apply::export))
        .at("/api/v1/audit", routes!(audit::list))
        .at("/api/v1/proposals", routes!(proposals::list))
        .at("/api/v1/proposals/{id}", routes!(proposals::show))
        .at("/api/v1/proposals/{id}/approve", routes!(proposals::approve))
        .at("/api/v1/proposals/{id}/reject", routes!(proposals::reject))
        .route_layer(Extension(Class::Management));
    let uploads = OpenApiRouter::new()
        .at("/api/v1/resolvers", routes!(resolvers::create, resolvers::list))
        .at(
            "/api/v1/resolvers/{id}",
            routes!(resolvers::show, resolvers::update, resolvers::delete),
        )
        .route_layer(Extension(Class::Uploads));
    // A bundle may bring modules, which take seconds to compile.
    let bundles = OpenApiRouter::new()
        .at(apply::PATH, routes!(apply::run))
        .route_layer(Extension(Class::Uploads));
    let management = management.merge(uploads).merge(bundles).merge(access);
    let management = management.route_layer(middleware::from_fn(layers::run_to_completion));
    let pages = OpenApiRouter::new()
        .at("/docs", routes!(docs::page))
        .at("/docs/{file}", routes!(docs::file));
    let discovery = OpenApiRouter::new()
        .at("/.well-known/authzen-configuration", routes!(discovery::configuration))
        .at(
            "/.well-known/authzen-configuration/{tenant}",
            routes!(discovery::configuration_of_tenant),
        );
    decisions.merge(management).merge(pages).merge(discovery)
}

/// Returns the routes of the operator.
fn operator(mode: &Mode) -> OpenApiRouter<App> {
    let metrics = OpenApiRouter::new().at("/metrics", routes!(metrics::metrics));
    let admin = OpenApiRouter::new()
        .at("/admin/tenants", routes!(admin::create_tenant, admin::list_tenants))
        .at("/admin/tenants/{id}", routes!(admin::show_tenant, admin::delete_tenant))
        .at("/admin/tenants/{id}/suspend", routes!(admin::suspend_tenant))
        .at("/admin/tenants/{id}/resume", routes!(admin::resume_tenant))
        .at("/admin/tenants/{id}/service-api-keys", routes!(admin::list_keys))
        .at("/admin/tenants/{id}/service-api-keys/{keyId}", routes!(admin::revoke_key))
        .at("/admin/audit", routes!(audit::list_all))
        .at(
            "/admin/tenants/{id}/identity-providers",
            routes!(admin::register_provider, admin::list_providers),
        )
        .at(
            "/admin/tenants/{id}/identity-providers/{idpId}",
            routes!(admin::show_provider, admin::remove_provider),
        )
        .route_layer(Extension(Class::Operator));
    match mode {
        Mode::Saas { .. } => {
            metrics.merge(admin.route_layer(middleware::from_fn(layers::run_to_completion)))
        }
        Mode::Selfhost(_) | Mode::SingleTenant { .. } => metrics,
    }
}

/// Returns the page of links, which every listener has. It links to what a listener with `set` serves.
fn page_at_root(set: RouteSet) -> OpenApiRouter<App> {
    OpenApiRouter::new().at("/", routes!(home::page)).route_layer(Extension(set))
}

/// Returns the probes, which every listener has.
fn probes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .at("/healthz/live", routes!(health::live))
        .at("/healthz/ready", routes!(health::ready))
}

/// Adds the answer to unknown routes, and what is around all routes. The routes may have layers.
pub fn finish(app: App, routes: Router, bodies: BodyBudget) -> HttpService {
    service(app, routes, bodies, false)
}

fn service(app: App, routes: Router, bodies: BodyBudget, direct_checks: bool) -> HttpService {
    let (_, described) = table(&app.mode).split_for_parts();
    let queries = KnownQueries::of(&described.paths);
    HttpService::new(app, bodies, queries, routes.fallback(unknown_route), direct_checks)
}

/// Answers a request for an unknown path.
async fn unknown_route() -> ApiError {
    ApiError::not_found("route on this address; see `GET /`")
}
