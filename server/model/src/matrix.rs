//! The body of a matrix of decisions (`docs/semantics.md`, section 15.2).

use portcullis_engine::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use portcullis_engine::{Invalid, Json, resource};
use serde_json::json;

use crate::document;
use crate::fields::{list, one_or_more, owned, text};
use crate::input::{self, Field, Members, derived, object};
use crate::revision::at_revision;
use crate::schema;
use crate::search::MAX_CURSOR;

/// The maximum number of subjects and roles together.
pub const MAX_ROWS: usize = 200;
/// The maximum number of resources, and of actions.
pub const MAX_COLUMNS: usize = 1_000;
/// The maximum number of roles of a subject.
const MAX_ROLES: usize = 1_000;
/// The maximum number of cells of a page: 50 roles × 500 actions.
pub const MAX_CELLS: usize = 25_000;

/// The body of `POST /api/v1/matrix`.
#[derive(Clone, Debug)]
pub struct MatrixRequest {
    /// The rows: subjects, and then roles.
    pub rows: Vec<MatrixSubject>,
    /// The resources; `None` is all registered ones.
    pub resources: Option<Vec<String>>,
    /// The actions; `None` is the verb of each resource.
    pub actions: Option<Vec<String>>,
    /// The domain; `None` is the caller's own.
    pub domain: Option<String>,
    /// The revision whose rules decide; `None` is the present.
    pub at_revision: Option<u64>,
    /// The place where the page begins; `None` for the first.
    pub cursor: Option<String>,
    /// Most resources of a page.
    pub columns: usize,
}

/// A row of a matrix.
#[derive(Clone, Debug)]
pub struct MatrixSubject {
    /// `None` is anybody whom no rule names.
    pub subject: Option<String>,
    /// All roles of the subject; `None` is those that a check has.
    pub roles: Option<Vec<String>>,
}

impl MatrixRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Every unknown or ill-typed field, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let roles = one_or_more(role_or_none(), "role").about("Each is a row of its own. `editor@resource` or `group:eng#member` is everybody who has the relation, `null` everybody without a role");
        let roles = members.optional("roles", roles);
        let subjects = members.optional("subjects", list(object(MatrixSubject::declare)));
        let resources = owned(resource::resource, schema::resource);
        let resources = one_or_more(resources, "resource").about("All registered ones when absent");
        let resources = members.optional("resources", resources);
        let actions = one_or_more(text(MAX_ACTION), "action");
        let actions = actions.about("The verb of each resource when absent");
        let actions = members.optional("actions", actions);
        let domain = members.optional("domain", text(MAX_DOMAIN));
        let at_revision = members.optional("at_revision", at_revision());
        let next = "Where the page begins: `next` of the page before";
        let cursor = members.optional("cursor", text(MAX_CURSOR).about(next));
        let mut rows = subjects.unwrap_or_default();
        // A role is a row of a subject that no rule names, with this role alone. A `null` is one without roles.
        rows.extend(
            roles.unwrap_or_default().into_iter().map(|role| MatrixSubject {
                subject: None,
                roles: Some(role.into_iter().collect()),
            }),
        );
        if rows.is_empty() || rows.len() > MAX_ROWS {
            members.expected_at("roles", format!("1 to {MAX_ROWS} roles and subjects together"));
        }
        if rows.iter().any(|row| row.roles.as_ref().is_some_and(|roles| roles.len() > MAX_ROLES)) {
            members.expected_at("subjects", format!("at most {MAX_ROLES} roles of a subject"));
        }
        for (name, values) in [("resources", &resources), ("actions", &actions)] {
            if values.as_ref().is_some_and(|values| values.len() > MAX_COLUMNS) {
                members.expected_at(name, format!("at most {MAX_COLUMNS} values"));
            }
        }
        let [of_resources, of_actions] =
            // What is absent has at least one value, and its real number is known only later.
            [&resources, &actions].map(|values| values.as_ref().map_or(1, Vec::len));
        // Before anything is made of them: a body of 267 KB names 200,000,000 cells.
        let cells = rows.len().saturating_mul(of_resources).saturating_mul(of_actions);
        if cells > MAX_CELLS {
            let what = format!("at most {MAX_CELLS} cells, which are rows × resources × actions");
            members.expected_at("resources", what);
        }
        let columns = MAX_COLUMNS;
        Some(Self { rows, resources, actions, domain, at_revision, cursor, columns })
    }
}

/// A role, or `null` for none.
fn role_or_none<'j>() -> impl Field<'j, Value = Option<String>> {
    derived(
        text(MAX_SUBJECT),
        |role, json, at, problems| match json {
            Json::Null => Some(None),
            json => role.read(json, at, problems).map(Some),
        },
        |role| schema::nullable(role.schema()),
    )
}

impl MatrixSubject {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let subject = members.required("subject", text(MAX_SUBJECT));
        let roles = list(text(MAX_SUBJECT)).about("All roles; when absent, the roles of a check");
        let roles = members.optional("roles", roles);
        Some(Self { subject: Some(subject?), roles })
    }
}

document!(MatrixRequest => {
    input::describe(MatrixRequest::declare).example(json!({
        "roles": ["doctor", "nurse"], "resources": ["chart:read", "chart:sign"],
    }))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_a_number_of_roles_at_most() {
        for (number, is_valid) in [(MAX_ROLES, true), (MAX_ROLES + 1, false)] {
            let roles: Vec<String> = (0..number).map(|role| role.to_string()).collect();
            let text = json!({"subjects": [{"subject": "ann", "roles": roles}]}).to_string();
            let body = portcullis_engine::json::parse(text.as_bytes()).expect("JSON");
            assert_eq!(MatrixRequest::parse(&body).is_ok(), is_valid, "{number}");
        }
    }
}
