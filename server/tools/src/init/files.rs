//! The files of the first tenant.

use std::fmt::Write as _;

use portcullis_bundle::SCHEMAS;

use super::answers::FirstTenant;

/// The names of the files.
pub(super) const NAMES: [&str; 5] =
    ["tenant.yaml", "resources.yaml", "rules.yaml", "policies.yaml", "cases.yaml"];
/// The folder of the schemas, from which editors make completion and checks.
pub(super) const SCHEMA_FOLDER: &str = "schemas";
/// The users, one for each role.
pub(super) const USERS: [&str; 8] =
    ["alice", "bob", "carol", "david", "erin", "frank", "grace", "heidi"];

const TENANT: &str = include_str!("template/tenant.yaml.template");
const RESOURCES: &str = include_str!("template/resources.yaml.template");
const RULES: &str = include_str!("template/rules.yaml.template");
const POLICIES: &str = include_str!("template/policies.yaml.template");
const CASES: &str = include_str!("template/cases.yaml.template");

/// Returns each file with its name. The first line names the schema of the file.
pub(super) fn all(first: &FirstTenant) -> Vec<(&'static str, String)> {
    let templates = [TENANT, RESOURCES, RULES, POLICIES, CASES];
    let text = |(name, template): (&'static str, &str)| {
        let schema = SCHEMAS.into_iter().find(|schema| schema.file == name);
        let line = schema.map(|schema| schema.first_line(SCHEMA_FOLDER) + "\n").unwrap_or_default();
        (name, line + filled(template, first).as_str())
    };
    NAMES.into_iter().zip(templates).map(text).collect()
}

/// Returns a template with its placeholders filled in.
fn filled(template: &str, first: &FirstTenant) -> String {
    let role = first.roles.first().map_or("", |role| role);
    let verb = first.verbs.first().map_or("", |verb| verb);
    [
        ("{{users}}", &*users(first)),
        ("{{resources}}", &resources(first)),
        ("{{cases}}", &cases(first)),
        ("{{tenant}}", &first.tenant),
        ("{{resource}}", &first.resource),
        ("{{first}}", role),
        ("{{verb}}", verb),
        ("{{last}}", first.last_verb()),
        ("{{user}}", USERS[0]),
    ]
    .into_iter()
    .fold(template.to_owned(), |text, (placeholder, value)| text.replace(placeholder, value))
}

fn users(first: &FirstTenant) -> String {
    let users = USERS.iter().zip(&first.roles);
    let users = users.map(|(user, role)| format!("  - sub: {user}\n    roles: [{role}]"));
    users.collect::<Vec<_>>().join("\n")
}

/// Every verb for the first role, and the first verb for the others.
fn resources(first: &FirstTenant) -> String {
    let mut text = String::new();
    for (index, verb) in first.verbs.iter().enumerate() {
        let most = if index == 0 { first.roles.len() } else { 1 };
        let roles: Vec<&str> = first.roles.iter().take(most).map(String::as_str).collect();
        let (resource, roles) = (&first.resource, roles.join(", "));
        // Writing to a string cannot fail.
        let _ = write!(text, "- name: {resource}:{verb}\n  defaultRoles: [{roles}]\n");
    }
    text.trim_end().to_owned()
}

/// One case for each rule of a default role.
fn cases(first: &FirstTenant) -> String {
    let all = USERS.iter().zip(&first.roles).enumerate();
    let mut text = String::new();
    for (index, (user, role)) in all {
        let most = if index == 0 { first.verbs.len() } else { 1 };
        for verb in first.verbs.iter().take(most) {
            let FirstTenant { tenant, resource, .. } = first;
            // The last verb of the first role is the one to show.
            let demo = if index == 0 && verb == first.last_verb() { "demo: " } else { "" };
            let attributes = match verb == first.last_verb() {
                true => ", attributes: {resource: {owner: somebody, locked: false}}",
                false => "",
            };
            let _ = write!(
                text,
                "- name: \"{demo}the role {role} may {verb}\"\n  as: {user}\n  check: {{subject: {user}, \
                 resource: {resource}:{verb}, action: {verb}{attributes}}}\n  \
                 expect: {{decision: allow, rule: \"{role}, {tenant}, {resource}:{verb}, {verb}\"}}\n\n"
            );
        }
    }
    text.trim_end().to_owned() + "\n"
}
