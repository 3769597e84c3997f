//! `matrix`, `who-can` and `what-can` with `--url`: the decisions of a running service (`docs/semantics.md`, sections 13 and
//! 15.2).

mod roles;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_bundle::matrix::{MatrixRow, MatrixTable};
use portcullis_config::{GivenCredential, Variables};
use portcullis_engine::ResourcePattern;
use portcullis_engine::action::Action;
use portcullis_engine::rbac::WILDCARD;
use portcullis_model::apply::CellDecision;
use serde::Deserialize;
use serde_json::{Value, json};

use self::roles::{NamedRoles, with_everybody};

use crate::can::{WhatCanArguments, WhoCanArguments};
use crate::matrix::{MatrixArguments, write};
use crate::remote_arguments::RemoteArguments;
use crate::service::{CallLimits, Service};

/// The most rows of one matrix that the service takes.
const MAX_ROWS: usize = 200;
/// The most pages of a search or matrix.
const MAX_PAGES: usize = 1_000;

/// Returns the service, with the credential of the arguments or the variables.
fn service(arguments: &RemoteArguments, variables: &Variables) -> anyhow::Result<Service> {
    let RemoteArguments { url, token, key } = arguments;
    let url = url.as_ref().context("expected the URL of a service in --url")?;
    let given = GivenCredential { token: token.as_deref(), key: key.as_deref() };
    let credential = variables.manager_credential(given)?;
    Service::with_credential(url, credential, CallLimits::CONTENT)
}

/// Prints what a service decides for roles.
///
/// # Errors
/// The service cannot be reached or refuses the call; an output that cannot be written.
pub async fn matrix(
    arguments: &MatrixArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let MatrixArguments { remote, role, resource, domain, table: shown, .. } = arguments;
    let service = service(remote, variables)?;
    let mut question = json!({});
    if !resource.is_empty() {
        question["resources"] = wanted(&service, resource).await?.into();
    }
    let domain = domain.as_deref();
    let table = match role.is_empty() {
        true => decide_for_everybody(&service, question, domain).await?,
        false => decide_for_roles(&service, &json_texts(role), question, domain).await?,
    };
    write(&table, *shown, out)
}

/// Prints which roles, and which subjects of the directory, may do something by a service.
///
/// # Errors
/// As for [`matrix`].
pub async fn who(
    arguments: &WhoCanArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let (_, action, resource) = arguments.question()?;
    let service = service(&arguments.remote, variables)?;
    let domain = arguments.domain.as_deref();
    let mut question = json!({"resources": [resource]});
    if let Some(action) = action {
        question["actions"] = json!([action]);
    }
    let mut table = decide_for_everybody(&service, question, domain).await?;
    add_subjects(&service, action, resource, domain, &mut table).await?;
    write(&table, arguments.table, out)
}

/// Prints what a subject may do on registered resources by a service.
///
/// # Errors
/// As for [`matrix`].
pub async fn what(
    arguments: &WhatCanArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let (_, subject) = arguments.question()?;
    let service = service(&arguments.remote, variables)?;
    let mut row = json!({"subject": subject});
    if !arguments.role.is_empty() {
        row["roles"] = json!(arguments.role);
    }
    let question = json!({"subjects": [row]});
    let table = decided(&service, question, arguments.domain.as_deref()).await?;
    write(&table, arguments.table, out)
}

/// Decides `question` for each role that the service names, and for everybody without one.
async fn decide_for_everybody(
    service: &Service,
    question: Value,
    domain: Option<&str>,
) -> anyhow::Result<MatrixTable> {
    let named = NamedRoles::of(service).await?;
    let mut roles = json_texts(&named.names);
    // The row of `null` is everybody without a role: only with it can equal rows stand for everybody.
    roles.push(Value::Null);
    let mut table = decide_for_roles(service, &roles, question, domain).await?;
    table.cells = with_everybody(table.cells, roles.len());
    if let Some(note) = named.note() {
        (table.complete, table.note) = (false, table.note.or(Some(note)));
    }
    Ok(table)
}

fn json_texts<'t>(texts: impl IntoIterator<Item = &'t String>) -> Vec<Value> {
    texts.into_iter().map(|text| json!(text)).collect()
}

/// Returns the resources that are named, and the registered ones that a pattern matches.
async fn wanted(service: &Service, patterns: &[ResourcePattern]) -> anyhow::Result<Vec<String>> {
    let registered = service.list("resources").await?;
    let registered = registered.iter().filter_map(|record| record["name"].as_str());
    let matching = registered.filter(|name| patterns.iter().any(|it| it.matches(name)));
    let named = patterns.iter().filter_map(|pattern| match pattern {
        ResourcePattern::Exact(name) => Some(name.as_str()),
        _ => None,
    });
    // A registered resource that is also named occurs twice, and the set keeps one.
    let all: BTreeSet<&str> = matching.chain(named).collect();
    anyhow::ensure!(!all.is_empty(), "no registered resource matches --resource");
    Ok(all.into_iter().map(str::to_owned).collect())
}

/// Decides `question` for these roles; `null` is everybody without one.
async fn decide_for_roles(
    service: &Service,
    roles: &[Value],
    question: Value,
    domain: Option<&str>,
) -> anyhow::Result<MatrixTable> {
    let mut table = MatrixTable { complete: true, ..MatrixTable::default() };
    // The service refuses more rows at once, so the table is put together from several calls.
    for roles in roles.chunks(MAX_ROWS) {
        let mut question = question.clone();
        question["roles"] = json!(roles);
        let part = decided(service, question, domain).await?;
        table.cells.extend(part.cells);
        table.complete &= part.complete;
        table.note = table.note.or(part.note);
    }
    Ok(table)
}

#[derive(Deserialize)]
struct MatrixAnswer {
    domain: String,
    cells: Vec<AnsweredCell>,
    next: Option<String>,
    rules_changed: bool,
}

#[derive(Deserialize)]
struct AnsweredCell {
    subject: Option<String>,
    role: Option<String>,
    resource: String,
    action: String,
    decision: String,
    condition: Option<String>,
    policies: Vec<String>,
}

/// Returns the cells that are not denied, of every page.
async fn decided(
    service: &Service,
    mut question: Value,
    domain: Option<&str>,
) -> anyhow::Result<MatrixTable> {
    if let Some(domain) = domain {
        question["domain"] = domain.into();
    }
    let mut table = MatrixTable { complete: true, ..MatrixTable::default() };
    // A service that always gives another cursor must not keep the command running for ever.
    for _ in 0..MAX_PAGES {
        let answer: MatrixAnswer = service.post("matrix", &question).await?;
        match answer.add_to(&mut table) {
            Some(next) => question["cursor"] = next.into(),
            None => return Ok(table),
        }
    }
    let note = format!("only the first {MAX_PAGES} pages of the matrix are shown");
    (table.complete, table.note) = (false, Some(note));
    Ok(table)
}

impl MatrixAnswer {
    /// Adds the cells that are not denied. Returns the cursor of the next page.
    fn add_to(self, table: &mut MatrixTable) -> Option<String> {
        let cells = self.cells.into_iter();
        table.cells.extend(cells.filter_map(|cell| row(cell, &self.domain)));
        note_change(self.rules_changed, table);
        self.next
    }
}

/// Notes in `table` that its pages reflect different rules.
fn note_change(rules_changed: bool, table: &mut MatrixTable) {
    if rules_changed {
        let note = "the rules changed while the pages were read; run the command again";
        (table.complete, table.note) = (false, Some(note.to_owned()));
    }
}

/// Returns the row of a cell that is not denied.
fn row(cell: AnsweredCell, domain: &str) -> Option<MatrixRow> {
    let outcome = match &*cell.decision {
        "allow" => CellDecision::Allow,
        "deny" => return None,
        _ => depending(cell.condition, cell.policies),
    };
    Some(MatrixRow {
        // A row of a subject shows the subject in the place of a role.
        role: cell.role.or(cell.subject),
        domain: Some(domain.to_owned()),
        resource: cell.resource,
        action: Some(cell.action),
        outcome,
    })
}

fn depending(condition: Option<String>, policies: Vec<String>) -> CellDecision {
    CellDecision::Depends { condition, policies, more_policies: 0 }
}

#[derive(Deserialize)]
struct SearchAnswer {
    results: Vec<FoundSubject>,
    conditional: Vec<FoundSubject>,
    next: Option<String>,
    because: Option<String>,
    rules_changed: bool,
}

#[derive(Deserialize)]
struct FoundSubject {
    id: String,
    #[serde(default)]
    depends_on: Vec<String>,
    condition: Option<String>,
}

/// Adds the users of the directory who may do something.
async fn add_subjects(
    service: &Service,
    action: Option<&str>,
    resource: &str,
    domain: Option<&str>,
    table: &mut MatrixTable,
) -> anyhow::Result<()> {
    let mut question = json!({"resource": resource, "action": action});
    if let Some(domain) = domain {
        question["domain"] = domain.into();
    }
    // Each cell says which domain a question without one was about.
    let known = table.cells.first().and_then(|cell| cell.domain.clone());
    let domain = domain.map(str::to_owned).or(known);
    let row = MatrixRow {
        role: None,
        // Without it the text names none.
        domain: domain.or_else(|| Some(WILDCARD.to_owned())),
        resource: resource.to_owned(),
        action: Some(Action::of(action, resource).text().into_owned()),
        outcome: CellDecision::Allow,
    };
    for _ in 0..MAX_PAGES {
        let page: SearchAnswer = service.post("search/subjects", &question).await?;
        let allowed = page.results.into_iter();
        table.cells.extend(allowed.map(|one| MatrixRow { role: Some(one.id), ..row.clone() }));
        let open = page.conditional.into_iter().map(|one| {
            let resolved = one.depends_on;
            let condition =
                one.condition.or_else(|| Some(format!("{} decide", resolved.join(", "))));
            let outcome = depending(condition, Vec::new());
            MatrixRow { role: Some(one.id), outcome, ..row.clone() }
        });
        table.cells.extend(open);
        // The service says why a search is not complete.
        if page.because.is_some() {
            (table.complete, table.note) = (false, page.because);
        }
        note_change(page.rules_changed, table);
        match page.next {
            Some(next) => question["cursor"] = next.into(),
            None => return Ok(()),
        }
    }
    let note = format!("only the first {MAX_PAGES} pages of subjects are shown");
    (table.complete, table.note) = (false, Some(note));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(next: Option<&str>, rules_changed: bool) -> MatrixAnswer {
        let cell = json!({"subject": null, "role": "nurse", "resource": "chart:read", "action": "read",
            "decision": "allow", "condition": null, "policies": []});
        let page = json!({"domain": "acme", "cells": [cell], "next": next, "rules_changed": rules_changed});
        serde_json::from_value(page).expect("a page")
    }

    #[test]
    fn pages_of_different_rules_are_not_complete() {
        for rules_changed in [false, true] {
            let mut table = MatrixTable { complete: true, ..MatrixTable::default() };
            assert_eq!(page(Some("next"), false).add_to(&mut table).as_deref(), Some("next"));
            assert!(table.complete, "the first page");
            assert_eq!(page(None, rules_changed).add_to(&mut table), None);
            assert_eq!((table.cells.len(), table.complete), (2, !rules_changed));
            assert_eq!(table.note.is_some(), rules_changed);
        }
    }
}
