//! The roles that a service names, and what everybody else has beside them.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_bundle::matrix::{MatrixRow, roles_in};
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::{Condition, Policy};
use portcullis_model::apply::CellDecision;
use serde_json::Value;

use crate::report::visible;
use crate::service::Service;

/// Most policies that a note names.
const MAX_NAMED: usize = 5;

/// The roles on which the decisions of a service depend.
#[derive(Debug, Default)]
pub(super) struct NamedRoles {
    pub(super) names: BTreeSet<String>,
    /// The policies for which a role that is not among these can make a difference, too.
    open: Vec<String>,
}

impl NamedRoles {
    /// Asks the service for the subjects of its rules, the roles that include others, and the roles that the conditions of its
    /// policies name. Any other role, such as one that only the directory has, decides as no role does.
    pub(super) async fn of(service: &Service) -> anyhow::Result<Self> {
        let mut found = Self::default();
        let rules = service.list("resources/policies").await?;
        found.names.extend(rules.iter().filter_map(|rule| text(rule, "sub")));
        let roles = service.list("roles").await?;
        found.names.extend(roles.iter().filter_map(|role| text(role, "name")));
        for policy in service.list("abac/policies").await? {
            if policy["enabled"].as_bool().unwrap_or(true) {
                found.add_policy(&policy);
            }
        }
        found.names.remove(WILDCARD);
        Ok(found)
    }

    fn add_policy(&mut self, policy: &Value) {
        let mut named = BTreeSet::new();
        let condition = condition(policy);
        let are_all = condition.as_ref().is_some_and(|condition| roles_in(condition, &mut named));
        self.names.extend(named.into_iter().map(str::to_owned));
        if !are_all {
            self.open.push(visible(policy["name"].as_str().unwrap_or_default()));
        }
    }

    /// Returns what these roles do not show; `None` if nothing is missing.
    pub(super) fn note(&self) -> Option<String> {
        let named: Vec<_> =
            self.open.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = match self.open.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            Some(more) => format!(" and {more} more"),
            None => String::new(),
        };
        (!named.is_empty()).then(|| {
            format!(
                "roles that nothing names may have more than is printed: the policies {}{more} do not test for named roles alone",
                named.join(", ")
            )
        })
    }
}

fn text(record: &Value, name: &str) -> Option<String> {
    record[name].as_str().map(str::to_owned)
}

/// Returns the condition of a policy as a service shows it.
fn condition(policy: &Value) -> Option<Condition> {
    let format = policy["format"].as_str()?.parse().ok()?;
    Policy::stored_condition(format, &policy["rule_data"].to_string()).ok()
}

/// Returns the rows of `count` roles, with one row for everybody where all of them have the same outcome.
pub(super) fn with_everybody(cells: Vec<MatrixRow>, count: usize) -> Vec<MatrixRow> {
    let mut alike: BTreeMap<_, (CellDecision, usize)> = BTreeMap::new();
    for cell in &cells {
        let (outcome, number) = alike.entry(key(cell)).or_insert_with(|| (cell.outcome.clone(), 0));
        *number += usize::from(*outcome == cell.outcome);
    }
    // A denied cell has no row, so that fewer rows than roles are not alike.
    alike.retain(|_, (_, number)| *number == count);
    let mut rows = Vec::with_capacity(cells.len());
    for cell in cells {
        match alike.get_mut(&key(&cell)) {
            None => rows.push(cell),
            Some((_, number)) if *number == count => {
                // The first row stands for all; at 0 the others are left out.
                *number = 0;
                rows.push(MatrixRow { role: Some(WILDCARD.to_owned()), ..cell });
            }
            Some(_) => {}
        }
    }
    rows
}

/// Returns what a row is about, whatever its role.
fn key(cell: &MatrixRow) -> (String, Option<String>) {
    (cell.resource.clone(), cell.action.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(name: &str, when: &str) -> Value {
        json!({"name": name, "format": "expression", "rule_data": {"expression": when}})
    }

    #[test]
    fn policies_name_roles_and_may_depend_on_others() {
        for (when, expected, is_open) in [
            (r#"request.roles contains "head""#, &["head"][..], false),
            (r#"!(request.roles contains_any ["a", "b"])"#, &["a", "b"], false),
            (r#"user.ward == resource.ward"#, &[], false),
            ("request.roles contains resource.role", &[], true),
            ("user.teams contains_any request.roles", &[], true),
        ] {
            let mut roles = NamedRoles::default();
            roles.add_policy(&policy("p", when));
            assert_eq!(roles.names.iter().collect::<Vec<_>>(), expected, "{when}");
            assert_eq!(roles.note().is_some(), is_open, "{when}");
        }
        let mut roles = NamedRoles::default();
        for number in 0..=MAX_NAMED {
            roles.add_policy(
                &json!({"name": format!("p{number}"), "format": "json", "rule_data": {}}),
            );
        }
        assert!(roles.note().expect("a note").contains("`p4` and 1 more"));
    }

    #[test]
    fn what_every_role_has_everybody_has() {
        let row = |role: Option<&str>, action: &str, outcome| MatrixRow {
            role: role.map(str::to_owned),
            domain: None,
            resource: "doc:read".to_owned(),
            action: Some(action.to_owned()),
            outcome,
        };
        let (allow, depends) = (CellDecision::Allow, || CellDecision::Depends {
            condition: Some("user.a == 1".to_owned()),
            policies: Vec::new(),
            more_policies: 0,
        });
        let cells = vec![
            row(Some("a"), "read", allow.clone()),
            row(None, "read", allow.clone()),
            row(Some("a"), "list", allow.clone()),
            row(None, "list", depends()),
            row(None, "seek", allow.clone()),
        ];
        let mut expected = cells.clone();
        expected.splice(0..2, [row(Some(WILDCARD), "read", allow)]);
        assert_eq!(with_everybody(cells, 2), expected);
    }
}
