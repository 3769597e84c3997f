//! Tables of what decides: rules, resources, types and named conditions.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use portcullis_http::paging::{CursorKey, PageQuery, Requested};
use portcullis_http::query::Query;
use portcullis_model::named_condition::ConditionRecord;
use portcullis_model::page::{Listed, Page};
use portcullis_model::resource::ResourceRecord;
use portcullis_model::rule::{RuleOrigin, RuleRecord};
use portcullis_model::rule_filter::RuleFilter;
use portcullis_model::types::TypeRecord;
use portcullis_operations::conditions::{self, ConditionUses};
use portcullis_operations::{resources, rules, types};
use uuid::Uuid;

use crate::conditions::text;
use crate::decision::copies::AsApi;
use crate::next::{LIMIT, at_cursor, with_query};
use crate::visit::Visit;

/// The parameters of the named conditions.
pub(crate) const OF_CONDITIONS: &[&str] = &["name", "cursor"];
/// Most policies that a named condition shows as its users.
const USERS: usize = 10;

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    list: &'static List,
    /// A sentence about what the list lacks.
    note: Option<&'static str>,
    rows: Vec<Vec<Cell>>,
    next: Option<String>,
    tabs: Vec<Tab>,
    api: AsApi,
}

/// The parts of a list that do not depend on the tenant.
struct List {
    name: &'static str,
    path: &'static str,
    columns: &'static [&'static str],
    /// The route of the API that lists the same.
    route: &'static str,
    /// The words about a tenant that has none, and the route that makes one.
    empty: (&'static str, &'static str),
}

const RULES: List = List {
    name: "Rules",
    path: "rules",
    columns: &["Subject", "Domain", "Effect", "Action", "Resource", "From", "Owner"],
    route: "/api/v1/resources/policies",
    empty: ("No rule gives a role or a subject anything.", "POST /api/v1/resources/policies"),
};
const RESOURCES: List = List {
    name: "Resources",
    path: "resources",
    columns: &["Name", "Title", "Service", "Default roles", "Owner"],
    route: "/api/v1/resources",
    empty: ("No resource is registered.", "POST /api/v1/resources"),
};
const TYPES: List = List {
    name: "Types",
    path: "types",
    columns: &["Type", "Properties", "Relations", "About", "Owner"],
    route: "/api/v1/types",
    empty: ("No type is declared: policies may read every attribute.", "PUT /api/v1/types/{type}"),
};
const CONDITIONS: List = List {
    name: "Conditions",
    path: "conditions",
    columns: &["Name", "Condition", "Used by", "About", "Owner"],
    route: "/api/v1/conditions",
    empty: ("No condition has a name that policies share.", "PUT /api/v1/conditions/{name}"),
};

impl List {
    /// Shows these rows of the list.
    fn show(
        &'static self,
        visit: &Visit,
        rows: impl Iterator<Item = Vec<Cell>>,
        next: Option<String>,
        note: Option<&'static str>,
    ) -> Result<Response, ApiError> {
        let content = ListPage {
            list: self,
            note,
            rows: rows.collect(),
            next,
            tabs: tabs(visit, self.path),
            api: AsApi::get(&visit.address, self.route, ""),
        };
        visit.frame.show(self.name, &content)
    }
}

/// A link to a page of the same kind.
pub(crate) struct Tab {
    pub(crate) page: String,
    pub(crate) name: &'static str,
    pub(crate) is_current: bool,
}

/// A cell of a table.
enum Cell {
    Text(String),
    Code(String),
    /// An effect.
    Badge(&'static str),
    Link(Link),
    /// The first links, and the number of the others.
    Links(Vec<Link>, usize),
}

struct Link {
    name: String,
    page: String,
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn owner(managed_by: Option<String>) -> Self {
        Self::Text(managed_by.unwrap_or_else(|| "nobody".to_owned()))
    }
}

/// The pages beside a page of policies.
const TABS: [(&str, &str); 5] = [
    ("policies", "Policies"),
    ("rules", "Rules"),
    ("resources", "Resources"),
    ("types", "Types"),
    ("conditions", "Conditions"),
];

/// Returns the links to policies, rules, resources, types and conditions.
pub(crate) fn tabs(visit: &Visit, current: &str) -> Vec<Tab> {
    tabs_of(&TABS, visit, current)
}

/// Returns the links to `pages`, each a path with its name.
pub(crate) fn tabs_of(pages: &[(&str, &'static str)], visit: &Visit, current: &str) -> Vec<Tab> {
    let tabs = pages.iter().map(|&(path, name)| Tab {
        page: visit.page(path),
        name,
        is_current: path == current,
    });
    tabs.collect()
}

/// Reads the page of a list that the address names.
///
/// # Errors
/// The cursor is of another list.
pub(crate) fn page_of<K: CursorKey>(
    visit: &Visit,
    list: &str,
    filter: &str,
) -> Result<Requested<K>, ApiError> {
    let query: PageQuery<K> = Query::read(&visit.uri)?;
    query.in_list(&format!("console {list}"), &visit.tenant.id, filter)
}

/// Returns the address of the page after `listed`, whose last record has the place `key`.
pub(crate) fn next_of<T, K: CursorKey>(
    visit: &Visit,
    wanted: &Requested<K>,
    listed: &Listed<T>,
    key: impl Fn(&T) -> K,
) -> Option<String> {
    let last = listed.records.last().filter(|_| listed.more)?;
    Some(at_cursor(&visit.uri, &wanted.cursor(&key(last))))
}

/// Shows the RBAC rules.
pub(crate) async fn of_rules(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let wanted = page_of(&visit, "rules", "")?;
    let page = Page { after: *wanted.after(), limit: LIMIT };
    let listed = rules::list(&visit.app, &manager, &RuleFilter::default(), page).await?;
    let next = next_of(&visit, &wanted, &listed, |rule| rule.id);
    let rows = listed.records.into_iter().map(|rule| rule_row(&visit, rule));
    RULES.show(&visit, rows, next, None)
}

fn rule_row(visit: &Visit, rule: RuleRecord) -> Vec<Cell> {
    let origin = match rule.origin {
        RuleOrigin::Explicit => "somebody wrote it",
        RuleOrigin::DefaultRole => "a default role of the resource",
    };
    let page = with_query(&visit.page("access"), &[("roles", &rule.tuple.sub)]);
    vec![
        Cell::Link(Link { name: rule.tuple.sub, page }),
        Cell::text(rule.tuple.dom),
        Cell::Badge(rule.effect.into_str()),
        Cell::text(rule.tuple.act),
        Cell::text(rule.tuple.obj.to_string()),
        Cell::text(origin),
        Cell::owner(rule.managed_by),
    ]
}

/// Shows the registered resources.
pub(crate) async fn of_resources(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let wanted = page_of(&visit, "resources", "")?;
    let page = Page { after: *wanted.after(), limit: LIMIT };
    let listed = resources::list(&visit.app, &manager, page).await?;
    let next = next_of(&visit, &wanted, &listed, |resource| resource.id);
    let rows = listed.records.into_iter().map(|resource| resource_row(&visit, resource));
    RESOURCES.show(&visit, rows, next, None)
}

fn resource_row(visit: &Visit, resource: ResourceRecord) -> Vec<Cell> {
    let it = resource.registration;
    let page = with_query(&visit.page("access/who"), &[("resource", &it.name)]);
    vec![
        Cell::Link(Link { name: it.name, page }),
        Cell::text(it.display_name.unwrap_or_default()),
        Cell::text(it.service_name.unwrap_or_default()),
        Cell::text(it.default_roles.join(", ")),
        Cell::owner(resource.managed_by),
    ]
}

/// Shows the types that the tenant declares.
pub(crate) async fn of_types(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let wanted = page_of::<String>(&visit, "types", "")?;
    let listed = types::list(&visit.app, &manager, wanted.after(), LIMIT).await?;
    let next = next_of(&visit, &wanted, &listed, |declared| declared.kind.clone());
    TYPES.show(&visit, listed.records.into_iter().map(type_row), next, None)
}

fn type_row(declared: TypeRecord) -> Vec<Cell> {
    let properties = declared.properties.iter();
    let properties = properties.map(|(name, property)| format!("{name}: {}", property.kind));
    let relations: Vec<&str> = declared.relations.keys().map(String::as_str).collect();
    vec![
        Cell::text(&*declared.kind),
        Cell::Code(properties.collect::<Vec<_>>().join(", ")),
        Cell::Code(relations.join(", ")),
        Cell::text(declared.about.unwrap_or_default()),
        Cell::owner(declared.managed_by),
    ]
}

/// Shows the named conditions, or the one that the address names, each with the policies that use it.
pub(crate) async fn of_conditions(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let name = visit.parameter("name");
    let wanted = page_of::<String>(&visit, "conditions", &name)?;
    let listed = match &*name {
        "" => conditions::list(&visit.app, &manager, wanted.after(), LIMIT).await?,
        name => {
            let found = conditions::get(&visit.app, &manager, name).await?;
            Listed { records: vec![found], more: false }
        }
    };
    let next = next_of(&visit, &wanted, &listed, |condition| condition.name.clone());
    // All policies are looked through for them.
    let mut uses = match listed.records.is_empty() {
        true => ConditionUses { complete: true, ..ConditionUses::default() },
        false => conditions::uses(&visit.app, &manager).await?,
    };
    let rows = listed.records.into_iter().map(|condition| {
        let users = uses.policies.remove(&condition.name).unwrap_or_default();
        condition_row(&visit, condition, users)
    });
    let note = (!uses.complete).then_some(
        "“Used by” is about the first policies of the tenant: it has more than are looked through.",
    );
    CONDITIONS.show(&visit, rows, next, note)
}

/// Returns the row of a named condition that the policies `users` use.
fn condition_row(
    visit: &Visit,
    condition: ConditionRecord,
    users: Vec<(Uuid, String)>,
) -> Vec<Cell> {
    let others = users.len().saturating_sub(USERS);
    let links = users
        .into_iter()
        .take(USERS)
        .map(|(id, name)| Link { page: visit.page(&format!("policies/{id}")), name });
    let text = text(condition.written(), condition.condition.text());
    vec![
        Cell::text(condition.name),
        Cell::Code(text),
        Cell::Links(links.collect(), others),
        Cell::text(condition.about.unwrap_or_default()),
        Cell::owner(condition.managed_by),
    ]
}
