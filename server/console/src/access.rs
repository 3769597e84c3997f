//! The decided matrix: what roles and subjects may do.

pub(crate) mod cell;
pub(crate) mod what;
pub(crate) mod who;

use std::collections::BTreeSet;

use askama::Template;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use portcullis_auth::Manager;
use portcullis_engine::action::is_verb;
use portcullis_engine::json;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_model::matrix::{MAX_COLUMNS, MatrixRequest};
use portcullis_model::page::Page;
use portcullis_model::rule_filter::RuleFilter;
use portcullis_operations::matrices::{MatrixAnswer, MatrixAnswerCell, matrix};
use portcullis_operations::search::RequestMark;
use portcullis_operations::{roles, rules};
use portcullis_runtime::min_revisions::MinRevisions;

use crate::csv::{CsvPage, download};
use crate::decision::copies::AsApi;
use crate::fields::{AT_REVISION, DOMAIN, Field, FieldRow, Kind, body_of, fields_of};
use crate::lists::{Tab, tabs_of};
use crate::next::with_query;
use crate::outcomes::word;
use crate::question::QuestionPage;
use crate::visit::Visit;

/// The parameters of the page.
pub(crate) const KNOWN: &[&str] =
    &["roles", "subjects", "resources", "domain", "at_revision", "cursor"];
/// The parameters of the file.
pub(crate) const KNOWN_OF_CSV: &[&str] =
    &["roles", "subjects", "resources", "domain", "at_revision"];
const FIELDS: [FieldRow; 5] = [
    FieldRow { name: "roles", label: "Roles", hint: "doctor, nurse", kind: Kind::Texts },
    FieldRow { name: "subjects", label: "Subjects", hint: "ann, bob", kind: Kind::Subjects },
    FieldRow { name: "resources", label: "Resources", hint: "all", kind: Kind::Texts },
    DOMAIN,
    AT_REVISION,
];
/// Most columns of a page, and the most that it shows with whole words.
const COLUMNS: usize = 100;
const WORDY_COLUMNS: usize = 40;
/// Most rows that are there before somebody chooses.
const FIRST_ROWS: usize = 20;
/// Most rules and roles that are looked at for them.
const MOST: i64 = 1_000;
/// The route of the API, for cursors and copies.
const ROUTE: &str = "/api/v1/matrix";

/// The text in place of the matrix before somebody chooses.
const NOTHING_CHOSEN: &str = "<p class=\"empty\">What roles and subjects may do stands here. No rule names a role yet: choose roles or \
    subjects, with commas between them.</p>";
const TABS: [(&str, &str); 3] = [
    ("access", "Access"),
    ("access/who", "Who can do something?"),
    ("access/what", "What can somebody do?"),
];

/// Returns the links to the questions of access.
fn tabs(visit: &Visit, current: &str) -> Vec<Tab> {
    tabs_of(&TABS, visit, current)
}

#[derive(Template)]
#[template(path = "access_table.html")]
struct Table {
    columns: Vec<String>,
    /// Whether a cell shows the first letter of its word alone.
    is_heat_map: bool,
    rows: Vec<MatrixRow>,
    csv: String,
    next: Option<String>,
    revision: u64,
    reads_present_directory: bool,
}

struct MatrixRow {
    name: String,
    cells: Vec<Cell>,
}

struct Cell {
    decision: &'static str,
    word: &'static str,
    link: String,
}

/// Shows the matrix of the roles and subjects that are chosen.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let mut fields = fields_of(&FIELDS, &visit.uri);
    // Nobody has chosen yet.
    if fields.iter().all(|field| field.value.is_empty()) {
        let names = first_rows(&visit, &manager).await?;
        // The first field has the roles.
        if let Some(field) = fields.first_mut() {
            field.value = names.join(", ");
        }
    }
    // Roles and subjects, which come first, are the rows of the matrix.
    let is_chosen = fields.iter().take(2).any(|field| !field.value.is_empty());
    let decided = match is_chosen {
        true => Table::read(&visit, &fields).await.map(Some),
        false => Ok(None),
    };
    let page = QuestionPage {
        name: "Choose",
        tabs: tabs(&visit, "access"),
        note: if is_chosen { "" } else { NOTHING_CHOSEN },
        api: AsApi::post(&visit.address, ROUTE, &body_of(&fields)?),
        fields,
    };
    page.show(&visit, "Access", decided)
}

/// Answers with the matrix as a file.
pub(crate) async fn csv(visit: Visit, _: Manager) -> Result<Response, ApiError> {
    let header = ["subject", "role", "resource", "action", "decision", "condition"];
    download(visit, "access.csv", &header, csv_page).await
}

fn csv_page(visit: &Visit, cursor: Option<String>) -> BoxFuture<'_, Result<CsvPage, ApiError>> {
    async move {
        let body = body_of(&fields_of(&FIELDS, &visit.uri))?;
        let MatrixAnswer { cells, next, revision, .. } =
            decide(visit, body, cursor, MAX_COLUMNS).await?;
        let rows = cells.into_iter().map(|cell| {
            let texts = [cell.subject, cell.role, Some(cell.resource), Some(cell.action)];
            let rest = [Some(cell.decision.to_owned()), cell.condition];
            texts.into_iter().chain(rest).map(Option::unwrap_or_default).collect()
        });
        Ok(CsvPage { rows: rows.collect(), next, revision })
    }
    .boxed()
}

/// Returns the roles that rules name, and those that include others: the rows before somebody chooses.
async fn first_rows(visit: &Visit, manager: &Manager) -> Result<Vec<String>, ApiError> {
    let page = Page { limit: MOST, ..Page::FIRST };
    let rules = rules::list(&visit.app, manager, &RuleFilter::default(), page).await?.records;
    let roles = roles::list(&visit.app, manager, "", MOST).await?.records;
    let subjects = rules.into_iter().map(|rule| rule.tuple.sub);
    let names = subjects.chain(roles.into_iter().map(|role| role.name));
    // A name with a comma cannot stand in the list.
    let names: BTreeSet<String> = names.filter(|name| name != "*" && !name.contains(',')).collect();
    Ok(names.into_iter().take(FIRST_ROWS).collect())
}

/// Decides a page of the matrix that `body`, one of `POST /api/v1/matrix`, asks for: at most `columns` columns of it.
///
/// # Errors
/// The body is wrong, or the matrix cannot be decided.
async fn decide(
    visit: &Visit,
    body: String,
    cursor: Option<String>,
    columns: usize,
) -> Result<MatrixAnswer, ApiError> {
    let (app, caller, tenant) = (visit.app.clone(), visit.asker(), visit.tenant.id.clone());
    let report = carried(move |awaited| async move {
        let json = json::parse(body.as_bytes())?;
        let request = MatrixRequest { cursor, columns, ..MatrixRequest::parse(&json)? };
        let mark = RequestMark::new(ROUTE, caller.tenant(), caller.actor(), &json, &["cursor"]);
        let at_least = MinRevisions::default();
        Ok(matrix(&app, &caller, request, &mark, at_least, &awaited).await?)
    });
    visit.app.searches.run(&tenant, report).await
}

impl Table {
    async fn read(visit: &Visit, fields: &[Field]) -> Result<Self, ApiError> {
        let body = body_of(fields)?;
        let cursor = visit.cursor();
        let answer = decide(visit, body, cursor, COLUMNS).await?;
        let filter: Vec<(&str, &str)> = fields.iter().map(|one| (one.name, &*one.value)).collect();
        // Cells come column by column, and each column has the same rows.
        let columns: Vec<&[MatrixAnswerCell]> =
            answer.cells.chunk_by(|one, other| column(one) == column(other)).collect();
        let first = columns.first().copied().unwrap_or_default();
        let rows = first.iter().enumerate().map(|(index, cell)| {
            let cells = columns.iter().filter_map(|column| column.get(index));
            MatrixRow {
                name: row_name(cell),
                cells: cells.map(|cell| shown(visit, cell, fields)).collect(),
            }
        });
        let next = answer.next.as_ref().map(|cursor| {
            let members = filter.iter().copied().chain([("cursor", &**cursor)]);
            with_query("", &members.collect::<Vec<_>>())
        });
        Ok(Self {
            rows: rows.collect(),
            is_heat_map: columns.len() > WORDY_COLUMNS,
            columns: columns.iter().filter_map(|one| one.first().map(column_name)).collect(),
            csv: with_query(&visit.page("access.csv"), &filter),
            next,
            revision: answer.revision,
            reads_present_directory: answer.directory.is_some(),
        })
    }
}

fn column(cell: &MatrixAnswerCell) -> (&str, &str) {
    (&cell.resource, &cell.action)
}

/// Returns the heading of a column: the action is there if it is not the verb of the resource.
fn column_name(cell: &MatrixAnswerCell) -> String {
    match is_verb(&cell.action, &cell.resource) {
        true => cell.resource.clone(),
        false => format!("{} on {}", cell.action, cell.resource),
    }
}

fn row_name(cell: &MatrixAnswerCell) -> String {
    let name = cell.subject.as_ref().or(cell.role.as_ref());
    name.cloned().unwrap_or_else(|| "no role".to_owned())
}

fn shown(visit: &Visit, cell: &MatrixAnswerCell, fields: &[Field]) -> Cell {
    let question = [
        ("subject", cell.subject.as_deref().unwrap_or_default()),
        ("role", cell.role.as_deref().unwrap_or_default()),
        ("resource", &cell.resource),
        ("action", &cell.action),
        ("domain", value_of(fields, "domain")),
        ("at_revision", value_of(fields, "at_revision")),
    ];
    Cell {
        decision: cell.decision,
        word: word(cell.decision),
        link: with_query(&visit.page("access/cell"), &question),
    }
}

fn value_of<'f>(fields: &'f [Field], name: &str) -> &'f str {
    let field = fields.iter().find(|field| field.name == name);
    field.map_or("", |field| &field.value)
}
