//! The rows of the console.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::LOCATION;
use portcullis_http::error::ApiError;
use portcullis_http::row::Row;
use portcullis_limits::Class;
use portcullis_runtime::app::App;

use crate::address::{Address, NO_TENANT, location, see_other};
use crate::assets;
use crate::decisions::KNOWN as OF_DECISIONS;
use crate::visit::{Visit, form, page};
use crate::{
    access, ask, changes, decision, decisions, headers, links, lists, me, policies, policy,
    proposals, sessions, sign_in, sign_out, theme,
};

/// The parameter of a list without a filter.
const OF_LIST: &[&str] = &["cursor"];

/// The class of what somebody without a session asks for. It runs to its end, whatever the browser does.
const OF_STRANGERS: Option<Class> = Some(Class::Management);

/// Returns the rows of the console of `app`; none if it is off.
pub fn rows(app: &App) -> Vec<Row> {
    if app.console.is_some() { all() } else { Vec::new() }
}

/// Returns every row of the console.
pub fn all() -> Vec<Row> {
    vec![
        Row::page("/console", OF_STRANGERS, sign_in::start),
        Row::page("/console/-/sign-in", OF_STRANGERS, sign_in::begin_at_only),
        Row::page("/console/-/callback", OF_STRANGERS, sign_in::callback),
        Row::page("/console/-/link/{secret}", OF_STRANGERS, links::show),
        Row::form("/console/-/link/{secret}", OF_STRANGERS, links::take),
        Row::form("/console/-/back-channel-logout", OF_STRANGERS, sign_out::by_provider),
        Row::form("/console/-/theme", OF_STRANGERS, theme::choose),
        Row::page("/console/-/assets/{name}", None, assets::serve),
        Row::page("/console/{t}", None, to_folder),
        page("/console/{t}/", &[], first),
        Row::page("/console/{t}/sign-in", OF_STRANGERS, sign_in::show),
        Row::page("/console/{t}/sign-in/{provider}", OF_STRANGERS, sign_in::begin),
        form("/console/{t}/sign-out", sign_out::by_person),
        page("/console/{t}/decisions", OF_DECISIONS, decisions::page),
        page("/console/{t}/decisions/live", OF_DECISIONS, decisions::follow),
        page("/console/{t}/decisions/{id}", &[], decision::page),
        page("/console/{t}/ask", ask::KNOWN, ask::page),
        page("/console/{t}/access", access::KNOWN, access::page),
        page("/console/{t}/access.csv", access::KNOWN_OF_CSV, access::csv),
        page("/console/{t}/access/cell", access::cell::KNOWN, access::cell::page),
        page("/console/{t}/access/who", access::who::KNOWN, access::who::page),
        page("/console/{t}/access/who.csv", access::who::KNOWN_OF_CSV, access::who::csv),
        page("/console/{t}/access/what", access::what::KNOWN, access::what::page),
        page("/console/{t}/access/what.csv", access::what::KNOWN_OF_CSV, access::what::csv),
        page("/console/{t}/policies", policies::KNOWN, policies::page),
        page("/console/{t}/policies/{id}", &[], policy::page),
        page("/console/{t}/rules", OF_LIST, lists::of_rules),
        page("/console/{t}/resources", OF_LIST, lists::of_resources),
        page("/console/{t}/types", OF_LIST, lists::of_types),
        page("/console/{t}/conditions", lists::OF_CONDITIONS, lists::of_conditions),
        page("/console/{t}/changes", OF_LIST, changes::page),
        page("/console/{t}/changes/{n}", OF_LIST, changes::diff::one),
        page("/console/{t}/changes/{a}/diff/{b}", OF_LIST, changes::diff::two),
        page("/console/{t}/changes/{n}/restore", &[], changes::restore::page),
        form("/console/{t}/changes/{n}/restore/restore", changes::restore::restore),
        page("/console/{t}/proposals", OF_LIST, proposals::page),
        page("/console/{t}/proposals/{id}", &[], proposals::one),
        form("/console/{t}/proposals/{id}/approve", proposals::approve),
        form("/console/{t}/proposals/{id}/reject", proposals::reject),
        page("/console/{t}/me", OF_LIST, me::page),
        page("/console/{t}/sessions", &[], sessions::page),
        form("/console/{t}/sessions/end", sessions::end),
    ]
}

/// Leads to the folder of the tenant, in which links of its pages are relative.
async fn to_folder(State(app): State<App>, Path(name): Path<String>) -> Response {
    if name == NO_TENANT {
        return ApiError::not_found("page").into_response();
    }
    let folder = Address::of(&app).folder(&name);
    let mut answer =
        (StatusCode::PERMANENT_REDIRECT, [(LOCATION, location(&folder))]).into_response();
    headers::add(&mut answer);
    answer
}

/// Leads to the first page of the person.
async fn first(visit: Visit) -> Result<Response, ApiError> {
    Ok(see_other(&visit.page("decisions")))
}
