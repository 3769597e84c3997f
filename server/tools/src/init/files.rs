//! The files of the first tenant.

use portcullis_bundle::SCHEMAS;
use portcullis_engine::rbac::WILDCARD;

use super::answers::{FirstTenant, FirstType};
use crate::lint::tying_condition;

/// The files with their templates. What stands behind [`EACH`] is written once for each type.
pub(super) const FILES: [(&str, &str); 7] = [
    ("tenant.yaml", include_str!("template/tenant.yaml.template")),
    ("settings.yaml", include_str!("template/settings.yaml.template")),
    ("types.yaml", include_str!("template/types.yaml.template")),
    ("resources.yaml", include_str!("template/resources.yaml.template")),
    ("rules.yaml", include_str!("template/rules.yaml.template")),
    ("policies.yaml", include_str!("template/policies.yaml.template")),
    ("cases.yaml", include_str!("template/cases.yaml.template")),
];
/// The policy and the case that only a tenant with domains has.
const TIE: &str = include_str!("template/tie.yaml.template");
const TIE_CASE: &str = include_str!("template/tie_case.yaml.template");
const EACH: &str = "{{each}}";
/// The folder of the schemas, from which editors make completion and checks.
pub(super) const SCHEMA_FOLDER: &str = "schemas";
/// The users, one for each role.
pub(super) const USERS: [&str; 8] =
    ["alice", "bob", "carol", "david", "erin", "frank", "grace", "heidi"];

/// The property of an object that has its domain.
const DOMAIN_PROPERTY: &str = "project";
const RULES_OF_TENANT: &str = "`dom` is left out: it is the\n# tenant.";
const RULES_IN_DOMAINS: &str = "`dom: \"*\"` is every domain: the\n# roles of a check are those of \
    its domain, from `domain_roles` of the directory or from the check.";
const RIGHTS_IN_DOMAINS: &str =
    "The rights of the roles are in rules.yaml, because they hold in every domain.";

/// Returns each file with its name. The first line names the schema of the file.
pub(super) fn all(first: &FirstTenant) -> Vec<(&'static str, String)> {
    let files = FILES.into_iter();
    files.map(|(name, template)| (name, file_text(name, template, first))).collect()
}

fn file_text(name: &str, template: &str, first: &FirstTenant) -> String {
    let schema = SCHEMAS.into_iter().find(|schema| schema.file == name);
    let mut text = schema.map(|schema| schema.first_line(SCHEMA_FOLDER) + "\n").unwrap_or_default();
    let (head, each) = template.split_once(EACH).unwrap_or((template, ""));
    // The head speaks about the first type where it needs one.
    let heads = first.types.iter().take(1).map(|kind| filled(head, first, kind));
    text += &heads.collect::<String>();
    for kind in &first.types {
        let part = filled(each, first, kind);
        if !part.trim().is_empty() {
            text = format!("{}\n\n{}\n", text.trim_end(), part.trim());
        }
    }
    text
}

/// Returns a template with its placeholders filled in for a type.
fn filled(template: &str, first: &FirstTenant, kind: &FirstType) -> String {
    let has_domains = !first.domains.is_empty();
    let [role, verb] = [&first.roles, &kind.verbs].map(|names| names.first().map_or("", |it| it));
    let domain = first.domains.first().map_or("", |domain| domain);
    let other = first.domains.get(1).cloned().unwrap_or_else(|| format!("other-{domain}"));
    let has_several = first.types.len() > 1;
    let of_default_roles = format!(
        "Each default role gets an allow rule: `{role}` of\n# `{name}:{verb}` has the rule \
         `{role}, {tenant}, {name}:{verb}, {verb}`.",
        name = kind.name,
        tenant = first.tenant
    );
    let [about_rules, about_rights] = match has_domains {
        false => [RULES_OF_TENANT, &of_default_roles],
        true => [RULES_IN_DOMAINS, RIGHTS_IN_DOMAINS],
    };
    let project = format!("{DOMAIN_PROPERTY}: {domain}");
    let about_project =
        format!("\n    {DOMAIN_PROPERTY}: {{type: text, about: The domain that it belongs to}}");
    let values = [
        // These have placeholders themselves.
        ("{{tie}}", only_if(has_domains, TIE.to_owned())),
        ("{{tie_case}}", only_if(has_domains, TIE_CASE.to_owned())),
        ("{{about_rules}}", about_rules.to_owned()),
        ("{{about_rights}}", about_rights.to_owned()),
        ("{{users}}", users(first)),
        ("{{resources}}", resources(first, kind)),
        ("{{rules}}", only_if(has_domains, rules(first, kind))),
        ("{{role_cases}}", role_cases(first, kind)),
        ("{{about_project}}", only_if(has_domains, about_project)),
        ("{{condition}}", tying_condition(DOMAIN_PROPERTY)),
        ("{{dom}}", only_if(has_domains, format!("dom: \"{WILDCARD}\", "))),
        ("{{rule_dom}}", rule_domain(first).to_owned()),
        ("{{domain}}", only_if(has_domains, format!("domain: {domain}\n    "))),
        ("{{in_project}}", only_if(has_domains, format!(", {project}"))),
        ("{{property}}", DOMAIN_PROPERTY.to_owned()),
        ("{{first_domain}}", domain.to_owned()),
        ("{{other_domain}}", other),
        ("{{prefix}}", only_if(has_several, format!("{}-", kind.name))),
        ("{{about_type}}", only_if(has_several, format!(" ({})", kind.name))),
        ("{{tenant}}", first.tenant.clone()),
        ("{{role}}", role.to_owned()),
        ("{{user}}", USERS[0].to_owned()),
        ("{{resource}}", kind.name.clone()),
        ("{{last}}", kind.last_verb().to_owned()),
    ];
    values
        .into_iter()
        .fold(template.to_owned(), |text, (placeholder, value)| text.replace(placeholder, &value))
}

fn only_if(condition: bool, text: String) -> String {
    if condition { text } else { String::new() }
}

/// Returns the domain of the rules that give the roles their rights.
fn rule_domain(first: &FirstTenant) -> &str {
    if first.domains.is_empty() { &first.tenant } else { WILDCARD }
}

/// Returns the verbs that a role has: every verb for the first role, and the first verb for the others.
fn verbs(kind: &FirstType, role: usize) -> &[String] {
    let most = if role == 0 { kind.verbs.len() } else { 1 };
    kind.verbs.get(..most).unwrap_or_default()
}

fn users(first: &FirstTenant) -> String {
    let users = USERS.iter().zip(&first.roles);
    lines(users.map(|(user, role)| format!("  - sub: {user}\n    roles: [{role}]")))
}

/// The resources, without domains with the roles that have each.
fn resources(first: &FirstTenant, kind: &FirstType) -> String {
    lines(kind.verbs.iter().map(|verb| {
        let name = format!("- name: {}:{verb}", kind.name);
        let all = first.roles.iter().enumerate();
        let roles = all.filter(|(index, _)| verbs(kind, *index).contains(verb));
        let roles: Vec<&str> = roles.map(|(_, role)| &**role).collect();
        match first.domains.is_empty() {
            true => format!("{name}\n  defaultRoles: [{}]", roles.join(", ")),
            false => name,
        }
    }))
}

/// One rule for each verb of each role.
fn rules(first: &FirstTenant, kind: &FirstType) -> String {
    let (dom, name) = (rule_domain(first), &kind.name);
    lines(first.roles.iter().enumerate().flat_map(|(index, role)| {
        verbs(kind, index).iter().map(move |verb| {
            format!(
                "- {{sub: {role}, dom: \"{dom}\", obj: {name}:{verb}, act: {verb}, effect: allow}}"
            )
        })
    }))
}

/// One case for each verb of each role, in each domain.
fn role_cases(first: &FirstTenant, kind: &FirstType) -> String {
    let domains = first.domains.iter().map(Some);
    let nowhere = first.domains.is_empty().then_some(None);
    lines(domains.chain(nowhere).flat_map(|domain| {
        let users = USERS.iter().zip(&first.roles).enumerate();
        users.flat_map(move |(index, (user, role))| {
            let verbs = verbs(kind, index).iter();
            verbs.map(move |verb| role_case(first, kind, domain, [user, role, verb]))
        })
    }))
}

fn role_case(
    first: &FirstTenant,
    kind: &FirstType,
    domain: Option<&String>,
    [user, role, verb]: [&str; 3],
) -> String {
    let name = &kind.name;
    // The last verb of the first role is the one to show.
    let is_shown = user == USERS[0] && verb == kind.last_verb() && domain == first.domains.first();
    let demo = if is_shown { "demo: " } else { "" };
    let [place, member, project] = match domain {
        Some(domain) => [
            format!(" in {domain}"),
            format!("domain: {domain}, "),
            format!(", {DOMAIN_PROPERTY}: {domain}"),
        ],
        None => Default::default(),
    };
    format!(
        "- name: \"{demo}the role {role} may {verb} any {name}{place}\"\n  as: {user}\n  check: {{{member}subject: {user}, \
         resource: {name}:{verb}, action: {verb}, attributes: {{resource: {{owner: somebody, locked: false{project}}}}}}}\n  \
         expect: {{decision: allow, rule: \"{role}, {dom}, {name}:{verb}, {verb}\"}}\n",
        dom = rule_domain(first)
    )
}

fn lines(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}
