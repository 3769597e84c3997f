//! The route table, one row per route.

use axum::Router;
use portcullis_auth::Mode;
use portcullis_http::error::ApiError;
use portcullis_http::route_facts::MaxBody::{Apply, Items, Small, Upload};
use portcullis_http::row::{Row, RowKind};
use portcullis_http::{BodyBudget, HttpService, row};
use portcullis_limits::Class;
use portcullis_runtime::app::App;

use crate::authzen::{self, discovery, evaluation, evaluations};
use crate::openapi::Document;
use crate::route_set::RouteSet;
use crate::{
    admin, apply, audit, batch, checks, conditions, decisions, docs, drafts, entities, filters,
    health, home, metrics, permissions, policies, proposals, relations, replays, resolvers,
    resources, revisions, roles, rules, search, service_keys, types, webhooks,
};

// The classes of the table.
/// Everybody may use the route.
const OPEN: Option<Class> = None;
const CHECKS: Option<Class> = Some(Class::Checks);
const MANAGE: Option<Class> = Some(Class::Management);
/// May bring modules, which take seconds to compile.
const UPLOADS: Option<Class> = Some(Class::Uploads);
const OPERATE: Option<Class> = Some(Class::Operator);

/// Returns the HTTP interface of `app`, with the rows `others` beside those of `set`.
pub fn router(app: App, set: RouteSet, others: Vec<Row>, bodies: BodyBudget) -> HttpService {
    let routes = routes(app.clone(), set, others);
    finish(app, routes, bodies)
}

/// Returns the routes of `set` and of the rows `others`, without what is around them.
pub fn routes(app: App, set: RouteSet, others: Vec<Row>) -> Router {
    let mut rows = served(&app.mode, set);
    rows.extend(others);
    row::router(rows).with_state(app)
}

/// Adds the answer to unknown routes, and what is around all routes.
pub fn finish(app: App, routes: Router, bodies: BodyBudget) -> HttpService {
    HttpService::new(app, bodies, routes.fallback(unknown_route))
}

/// Answers a request for an unknown path.
async fn unknown_route() -> ApiError {
    ApiError::not_found("route on this address; see `GET /`")
}

/// Returns the kind and the path of each route.
pub fn table_of(mode: &Mode) -> impl Iterator<Item = (RowKind, &'static str)> + use<> {
    served(mode, RouteSet::Everything).into_iter().map(|row| (row.kind, row.path))
}

/// Returns the rows of a listener with `set`.
pub(crate) fn served(mode: &Mode, set: RouteSet) -> Vec<Row> {
    let mut rows = table(mode, set);
    if set != RouteSet::Operator {
        rows.push(document_itself().with(described(mode)));
    }
    rows
}

/// Returns the document that describes every route. The document is a route too.
pub(crate) fn described(mode: &Mode) -> Document {
    let mut rows = table(mode, RouteSet::Everything);
    rows.push(document_itself());
    Document::new(rows, mode)
}

fn document_itself() -> Row {
    row!(GET "/openapi.json", OPEN, Small, docs::document)
}

/// Returns the rows of a listener with `set`, but for the document.
fn table(mode: &Mode, set: RouteSet) -> Vec<Row> {
    // It links to what the listener serves.
    let mut rows = vec![Row::page("/", OPEN, home::page).with(set)];
    rows.extend(probes());
    if set != RouteSet::Operator {
        rows.extend(decisions());
        rows.extend(records());
        rows.extend(policies_as_code());
        rows.extend(pages());
    }
    if set != RouteSet::Public {
        rows.push(row!(GET "/metrics", OPEN, Small, metrics::metrics));
        rows.extend(matches!(mode, Mode::Saas { .. }).then(tenants).into_iter().flatten());
    }
    rows
}

/// Returns the routes that decide, or say what would be decided.
fn decisions() -> Vec<Row> {
    vec![
        row!(POST "/api/v1/check", CHECKS, Small, checks::check),
        row!(POST "/api/v1/checks", CHECKS, Items, batch::check_all),
        row!(POST "/access/v1/evaluation", CHECKS, Small, evaluation::evaluation),
        row!(POST "/access/v1/evaluations", CHECKS, Items, evaluations::evaluations),
        row!(POST authzen::search::SUBJECTS_PATH, CHECKS, Small, authzen::search::subjects),
        row!(POST authzen::search::RESOURCES_PATH, CHECKS, Small, authzen::search::resources),
        row!(POST authzen::search::ACTIONS_PATH, CHECKS, Small, authzen::search::actions),
        row!(POST "/api/v1/resources/access/check", CHECKS, Small, checks::legacy_check),
        row!(POST search::RESOURCES_PATH, CHECKS, Items, search::resources),
        row!(POST search::SUBJECTS_PATH, CHECKS, Items, search::subjects),
        row!(POST search::ACTIONS_PATH, CHECKS, Small, search::actions),
        row!(POST "/api/v1/plan", MANAGE, Small, filters::plan),
        row!(POST "/api/v1/permissions", MANAGE, Small, permissions::list),
        row!(POST permissions::MATRIX_PATH, MANAGE, Small, permissions::matrix),
    ]
}

/// Returns the routes of a tenant's records.
fn records() -> Vec<Row> {
    vec![
        row!(POST "/api/v1/resources", MANAGE, Small, resources::register),
        row!(GET "/api/v1/resources", MANAGE, Small, resources::list),
        row!(POST "/api/v1/resources/list", MANAGE, Small, resources::register_all),
        row!(GET "/api/v1/resources/{id}", MANAGE, Small, resources::show),
        row!(DELETE "/api/v1/resources/{id}", MANAGE, Small, resources::delete),
        row!(GET "/api/v1/resources/{id}/policies", MANAGE, Small, resources::rules),
        row!(POST "/api/v1/resources/policies", MANAGE, Small, rules::create),
        row!(GET "/api/v1/resources/policies", MANAGE, Small, rules::list),
        row!(PUT "/api/v1/resources/policies", MANAGE, Small, rules::update),
        row!(DELETE "/api/v1/resources/policies", MANAGE, Small, rules::delete),
        row!(POST "/api/v1/abac/policies", MANAGE, Small, policies::create),
        row!(GET "/api/v1/abac/policies", MANAGE, Small, policies::list),
        row!(GET "/api/v1/abac/policies/{id}", MANAGE, Small, policies::show),
        row!(GET "/api/v1/abac/policies/{id}/history", MANAGE, Small, revisions::for_policy),
        row!(PUT "/api/v1/abac/policies/{id}", MANAGE, Small, policies::update),
        row!(DELETE "/api/v1/abac/policies/{id}", MANAGE, Small, policies::delete),
        row!(POST "/api/v1/service-api-keys", MANAGE, Small, service_keys::create),
        row!(GET "/api/v1/service-api-keys", MANAGE, Small, service_keys::list),
        row!(GET "/api/v1/service-api-keys/{id}", MANAGE, Small, service_keys::show),
        row!(DELETE "/api/v1/service-api-keys/{id}", MANAGE, Small, service_keys::revoke),
        row!(POST "/api/v1/webhooks", MANAGE, Small, webhooks::create),
        row!(GET "/api/v1/webhooks", MANAGE, Small, webhooks::list),
        row!(GET "/api/v1/webhooks/{id}", MANAGE, Small, webhooks::show),
        row!(PUT "/api/v1/webhooks/{id}", MANAGE, Small, webhooks::update),
        row!(DELETE "/api/v1/webhooks/{id}", MANAGE, Small, webhooks::delete),
        row!(POST "/api/v1/webhooks/{id}/test", MANAGE, Small, webhooks::test),
        row!(GET "/api/v1/webhooks/{id}/deliveries", MANAGE, Small, webhooks::deliveries),
        row!(POST "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", MANAGE, Small, webhooks::redeliver),
        row!(POST "/api/v1/resolvers", UPLOADS, Upload, resolvers::create),
        row!(GET "/api/v1/resolvers", MANAGE, Small, resolvers::list),
        row!(GET "/api/v1/resolvers/{id}", MANAGE, Small, resolvers::show),
        row!(PUT "/api/v1/resolvers/{id}", UPLOADS, Upload, resolvers::update),
        row!(DELETE "/api/v1/resolvers/{id}", MANAGE, Small, resolvers::delete),
        row!(POST "/api/v1/resolvers/{id}/test", MANAGE, Small, resolvers::test),
        row!(PUT "/api/v1/entities", MANAGE, Items, entities::write),
        row!(GET "/api/v1/entities", MANAGE, Small, entities::list),
        row!(POST "/api/v1/entities/sync", MANAGE, Items, entities::sync),
        row!(GET "/api/v1/entities/{type}/{id}", MANAGE, Small, entities::show),
        row!(PUT "/api/v1/entities/{type}/{id}", MANAGE, Small, entities::put),
        row!(PATCH "/api/v1/entities/{type}/{id}", MANAGE, Small, entities::patch),
        row!(DELETE "/api/v1/entities/{type}/{id}", MANAGE, Small, entities::delete),
        row!(GET "/api/v1/roles", MANAGE, Small, roles::list),
        row!(PUT "/api/v1/roles/{name}", MANAGE, Small, roles::put),
        row!(GET "/api/v1/roles/{name}", MANAGE, Small, roles::show),
        row!(DELETE "/api/v1/roles/{name}", MANAGE, Small, roles::delete),
        row!(POST "/api/v1/relations", MANAGE, Items, relations::write),
        row!(GET "/api/v1/relations", MANAGE, Small, relations::list),
        row!(DELETE "/api/v1/relations", MANAGE, Small, relations::delete),
        row!(POST "/api/v1/relations/sync", MANAGE, Items, relations::sync),
        row!(GET "/api/v1/types", MANAGE, Small, types::list),
        row!(PUT "/api/v1/types/{type}", MANAGE, Small, types::put),
        row!(GET "/api/v1/types/{type}", MANAGE, Small, types::show),
        row!(DELETE "/api/v1/types/{type}", MANAGE, Small, types::delete),
        row!(GET "/api/v1/conditions", MANAGE, Small, conditions::list),
        row!(PUT "/api/v1/conditions/{name}", MANAGE, Small, conditions::put),
        row!(GET "/api/v1/conditions/{name}", MANAGE, Small, conditions::show),
        row!(DELETE "/api/v1/conditions/{name}", MANAGE, Small, conditions::delete),
    ]
}

/// Returns the routes of a tenant's content as a whole, and of its changes.
fn policies_as_code() -> Vec<Row> {
    vec![
        row!(POST "/api/v1/apply", UPLOADS, Apply, apply::run),
        row!(GET "/api/v1/export", MANAGE, Small, apply::export),
        row!(GET "/api/v1/audit", MANAGE, Small, audit::list),
        row!(GET "/api/v1/revisions", MANAGE, Small, revisions::list),
        row!(GET "/api/v1/revisions/{n}", MANAGE, Small, revisions::show),
        row!(GET "/api/v1/revisions/{a}/diff/{b}", MANAGE, Small, revisions::diff),
        row!(POST "/api/v1/revisions/{n}/restore", UPLOADS, Small, revisions::restore),
        row!(GET "/api/v1/drafts", MANAGE, Small, drafts::list),
        row!(PUT "/api/v1/drafts/{name}", UPLOADS, Apply, drafts::put),
        row!(GET "/api/v1/drafts/{name}", MANAGE, Small, drafts::show),
        row!(DELETE "/api/v1/drafts/{name}", MANAGE, Small, drafts::delete),
        row!(GET "/api/v1/drafts/{name}/shadow", MANAGE, Small, drafts::show_shadow),
        row!(POST "/api/v1/drafts/{name}/publish", UPLOADS, Small, drafts::publish),
        row!(GET "/api/v1/decisions", MANAGE, Small, decisions::list),
        row!(DELETE "/api/v1/decisions", MANAGE, Small, decisions::erase),
        row!(GET "/api/v1/decisions/stats", MANAGE, Small, decisions::stats),
        row!(GET "/api/v1/decisions/stream", MANAGE, Small, decisions::follow),
        row!(GET "/api/v1/decisions/{id}", MANAGE, Small, decisions::show),
        row!(GET "/api/v1/parity", MANAGE, Small, decisions::parity),
        row!(POST "/api/v1/replays", MANAGE, Apply, replays::start),
        row!(GET "/api/v1/replays/{id}", MANAGE, Small, replays::show),
        row!(DELETE "/api/v1/replays/{id}", MANAGE, Small, replays::delete),
        row!(GET "/api/v1/proposals", MANAGE, Small, proposals::list),
        row!(GET "/api/v1/proposals/{id}", MANAGE, Small, proposals::show),
        row!(POST "/api/v1/proposals/{id}/approve", MANAGE, Small, proposals::approve),
        row!(POST "/api/v1/proposals/{id}/reject", MANAGE, Small, proposals::reject),
    ]
}

/// Returns the pages about the API.
fn pages() -> Vec<Row> {
    vec![
        Row::page("/docs", OPEN, docs::page),
        Row::page("/docs/{file}", OPEN, docs::file),
        row!(GET "/.well-known/authzen-configuration", OPEN, Small, discovery::configuration),
        row!(GET "/.well-known/authzen-configuration/{tenant}", OPEN, Small, discovery::configuration_of_tenant),
    ]
}

/// Returns the probes, which every listener has.
fn probes() -> Vec<Row> {
    vec![
        row!(GET "/healthz/live", OPEN, Small, health::live),
        row!(GET "/healthz/ready", OPEN, Small, health::ready),
    ]
}

/// Returns the routes of tenants, which only the operator may use.
fn tenants() -> Vec<Row> {
    vec![
        row!(POST "/admin/tenants", OPERATE, Small, admin::create_tenant),
        row!(GET "/admin/tenants", OPERATE, Small, admin::list_tenants),
        row!(GET "/admin/tenants/{id}", OPERATE, Small, admin::show_tenant),
        row!(DELETE "/admin/tenants/{id}", OPERATE, Small, admin::delete_tenant),
        row!(POST "/admin/tenants/{id}/suspend", OPERATE, Small, admin::suspend_tenant),
        row!(POST "/admin/tenants/{id}/resume", OPERATE, Small, admin::resume_tenant),
        row!(GET "/admin/tenants/{id}/service-api-keys", OPERATE, Small, admin::list_keys),
        row!(DELETE "/admin/tenants/{id}/service-api-keys/{keyId}", OPERATE, Small, admin::revoke_key),
        row!(GET "/admin/audit", OPERATE, Small, audit::list_all),
        row!(POST "/admin/tenants/{id}/identity-providers", OPERATE, Small, admin::register_provider),
        row!(GET "/admin/tenants/{id}/identity-providers", OPERATE, Small, admin::list_providers),
        row!(GET "/admin/tenants/{id}/identity-providers/{idpId}", OPERATE, Small, admin::show_provider),
        row!(PUT "/admin/tenants/{id}/identity-providers/{idpId}", OPERATE, Small, admin::change_provider),
        row!(DELETE "/admin/tenants/{id}/identity-providers/{idpId}", OPERATE, Small, admin::remove_provider),
    ]
}
