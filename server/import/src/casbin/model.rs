//! Casbin model files.

use std::collections::BTreeMap;

use super::condition::{Attribute, Field};
use super::entries::{ModelEntry, entries, find};
use super::expression::{Expression, Value};
use super::membership::RoleScope;
use super::parser;
use crate::fault::ImportFault;

/// The column that holds the effect of a line.
pub(super) const EFFECT: &str = "eft";
/// The column that holds the priority of a line.
pub(super) const PRIORITY: &str = "priority";
/// The function that makes domains patterns, if it compares the domain of a request with a column of a line.
const PATTERNS: &str = "keyMatch";
/// Names of the columns of a request.
const NAMES: [(Field, &[&str]); 4] = [
    (Field::Subject, &["sub", "subject", "user", "role"]),
    (Field::Domain, &["dom", "domain", "tenant", "org", "scope"]),
    (Field::Object, &["obj", "object", "path", "resource", "res", "url", "thing"]),
    (Field::Action, &["act", "action", "method", "op", "operation"]),
];

/// A Casbin model.
#[derive(Debug)]
pub(super) struct Model {
    /// The columns of a `p` line.
    pub(super) columns: Vec<String>,
    /// The attributes of the columns of a request.
    pub(super) request: Vec<(String, Attribute)>,
    /// The definitions of roles: `g`, `g2` and so on.
    pub(super) definitions: BTreeMap<String, RoleScope>,
    pub(super) effect: PolicyEffect,
    pub(super) matcher: Expression,
    /// The call that makes the domains of role lines patterns of `keyMatch`, such as `keyMatch(r.dom, p.dom)`.
    pub(super) domain_patterns: Option<String>,
}

/// The matching lines that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyEffect {
    /// Any allow; deny lines have no effect.
    AllowOverride,
    /// Any allow, unless there is a deny.
    AllowAndDeny,
    /// Everything is allowed, unless there is a deny.
    DenyOverride,
    /// The first line.
    Priority,
}

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// Every part of the file that Portcullis cannot express.
    pub(super) fn parse(text: &str) -> Result<Self, Vec<ImportFault>> {
        let mut faults = Vec::new();
        let entries = entries(text, &mut faults);
        let request = needed(&entries, "request_definition", "r", &mut faults);
        let policy = needed(&entries, "policy_definition", "p", &mut faults);
        let effect = needed(&entries, "policy_effect", "e", &mut faults);
        let matcher = needed(&entries, "matchers", "m", &mut faults);
        let mut definitions = BTreeMap::new();
        for entry in &entries {
            match (&*entry.section, &*entry.key) {
                ("role_definition", key) if is_role(key) => match scope(&entry.value) {
                    Some(scope) => drop(definitions.insert(key.to_owned(), scope)),
                    None => faults.push(entry.fault(
                        "expected `_, _` or `_, _, _`; write a policy for roles with conditions",
                    )),
                },
                // These sections are read above, and everything that is not listed is a fault.
                ("request_definition", "r") | ("policy_definition", "p") => {}
                ("policy_effect", "e") | ("matchers", "m") => {}
                _ => faults.push(unknown(entry)),
            }
        }
        let request = request.map(|entry| columns_of_request(entry, &mut faults));
        let columns = policy.map(|entry| columns(entry, &mut faults));
        let effect = effect.and_then(|entry| noted(effect_of(entry), &mut faults));
        if let (Some(entry), Some(columns), Some(PolicyEffect::Priority)) =
            (policy, &columns, effect)
        {
            faults.extend(misnamed_priority(entry, columns));
        }
        let matcher = matcher.and_then(|entry| {
            let read = parser::parse(&entry.value).map_err(|reason| entry.fault(reason));
            noted(read, &mut faults)
        });
        match (request, columns, effect, matcher) {
            // All parts may be there and a column still have a fault.
            (Some(request), Some(columns), Some(effect), Some(matcher)) if faults.is_empty() => {
                // Casbin for Go looks for the call in the text: another spelling of it makes no patterns.
                let domain_patterns = domain_patterns(&request, &matcher).filter(|call| {
                    find(&entries, "matchers", "m").is_some_and(|own| own.value.contains(call))
                });
                Ok(Self { columns, request, definitions, effect, matcher, domain_patterns })
            }
            _ => Err(faults),
        }
    }

    /// Returns whether requests name a domain.
    pub(super) fn has_domain(&self) -> bool {
        self.request.iter().any(|(_, own)| *own == Attribute::Field(Field::Domain))
    }

    /// Returns the columns of lines that the matcher compares by order.
    pub(super) fn ordered_columns(&self) -> impl Iterator<Item = (usize, &str)> {
        let columns = self.columns.iter().enumerate();
        let ordered = columns.filter(|(_, name)| {
            self.matcher.orders(&|value| matches!(value, Value::Policy(column) if column == *name))
        });
        ordered.map(|(index, name)| (index, name.as_str()))
    }

    /// Returns whether the matcher compares the column `name` of requests by order.
    pub(super) fn orders_request(&self, name: &str) -> bool {
        self.matcher.orders(&|value| value.is_request_column(name))
    }

    /// Returns the tests of the object: the called function, if any, and all values.
    pub(super) fn tests_of_object(&self) -> Vec<(Option<&str>, Vec<&Value>)> {
        let object = self.request.iter().find(|(_, own)| *own == Attribute::Field(Field::Object));
        object.map(|(name, _)| self.matcher.tests_of(name)).unwrap_or_default()
    }
}

/// Returns an entry that every model has. Notes that it is missing.
fn needed<'e>(
    entries: &'e [ModelEntry],
    section: &str,
    key: &str,
    faults: &mut Vec<ImportFault>,
) -> Option<&'e ModelEntry> {
    let entry = find(entries, section, key);
    if entry.is_none() {
        let what = format!("`{key} = …` in `[{section}]` is missing");
        faults.push(ImportFault::without_line(what));
    }
    entry
}

/// Returns the call of `keyMatch` that compares the domain of a request with a column of a line. Casbin for Go adds `keyMatch`
/// to the domains of all roles if the matcher has this text, with the one space.
fn domain_patterns(request: &[(String, Attribute)], matcher: &Expression) -> Option<String> {
    let (domain, _) = request.iter().find(|(_, own)| *own == Attribute::Field(Field::Domain))?;
    matcher.tests_of(domain).into_iter().find_map(|test| match test {
        (Some(PATTERNS), values) => match values[..] {
            [Value::Request { .. }, Value::Policy(column)] => {
                Some(format!("{PATTERNS}(r.{domain}, p.{column})"))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the fault that a column has priorities only if the application says so.
fn misnamed_priority(entry: &ModelEntry, columns: &[String]) -> Option<ImportFault> {
    if columns.iter().any(|name| name == PRIORITY) {
        return None;
    }
    let name = columns.iter().find(|name| name.contains(PRIORITY))?;
    Some(entry.fault(format!(
        "`{name}` orders the lines only if the application says so (SetFieldIndex), which the files do not show; rename the \
         column to `{PRIORITY}` if it does"
    )))
}

/// Notes a fault.
fn noted<T>(result: Result<T, ImportFault>, faults: &mut Vec<ImportFault>) -> Option<T> {
    result.map_err(|fault| faults.push(fault)).ok()
}

/// Returns whether `key` is `g`, `g2` and so on.
fn is_role(key: &str) -> bool {
    key.strip_prefix('g').is_some_and(|rest| rest.chars().all(|char| char.is_ascii_digit()))
}

fn unknown(entry: &ModelEntry) -> ImportFault {
    let ModelEntry { section, key, .. } = entry;
    // Casbin numbers further definitions of a section, such as `p2`.
    let numbered = key.ends_with(|last: char| last.is_ascii_digit());
    entry.fault(if numbered {
        format!("`{key}` of `[{section}]` is a second definition; import it as a model of its own")
    } else {
        format!(
            "`{key}` of `[{section}]` is not supported; remove it if the decisions do not need it"
        )
    })
}

fn scope(value: &str) -> Option<RoleScope> {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    match *parts {
        ["_", "_"] => Some(RoleScope::Everywhere),
        ["_", "_", "_"] => Some(RoleScope::ByDomain),
        _ => None,
    }
}

/// Reads the names of columns, each once.
fn columns(entry: &ModelEntry, faults: &mut Vec<ImportFault>) -> Vec<String> {
    let mut columns = Vec::<String>::new();
    for name in entry.value.split(',').map(str::trim) {
        if name.is_empty() || columns.iter().any(|own| own == name) {
            faults.push(entry.fault(format!("expected names of columns, each once, not `{name}`")));
        } else {
            columns.push(name.to_owned());
        }
    }
    columns
}

/// Reads the columns of a request. A column without a known name becomes an attribute of the user, or of the resource
/// if its name says so, as each further column of the object.
fn columns_of_request(
    entry: &ModelEntry,
    faults: &mut Vec<ImportFault>,
) -> Vec<(String, Attribute)> {
    let (mut request, mut seen) = (Vec::new(), Vec::<(Field, String)>::new());
    for name in columns(entry, faults) {
        let field =
            NAMES.iter().find(|(_, names)| names.contains(&&*name)).map(|(field, _)| *field);
        let attribute = match field {
            // Several names of objects are common, and the later ones are parts of the object.
            Some(Field::Object) if seen.iter().any(|(own, _)| *own == Field::Object) => {
                Attribute::Path(format!("resource.{name}"))
            }
            Some(field) => {
                if let Some((_, earlier)) = seen.iter().find(|(own, _)| *own == field) {
                    faults.push(entry.fault(same_field(field, earlier, &name)));
                    continue;
                }
                seen.push((field, name.clone()));
                Attribute::Field(field)
            }
            None => {
                // A column of another name most likely is about who asks.
                let kind = if name.starts_with("obj") { "resource" } else { "user" };
                Attribute::Path(format!("{kind}.{name}"))
            }
        };
        request.push((name, attribute));
    }
    request
}

/// Returns the fault that two columns of a request are one field of a check.
fn same_field(field: Field, earlier: &str, name: &str) -> String {
    let what = match field {
        Field::Subject => "subject",
        Field::Domain => "domain",
        Field::Object => "object",
        Field::Action => "action",
    };
    format!(
        "`{name}` means the same as an earlier column, `{earlier}`: both are names of the {what} of a request; rename the one \
         that is not, for example to `other_{name}`, and it becomes the attribute `user.other_{name}`"
    )
}

fn effect_of(entry: &ModelEntry) -> Result<PolicyEffect, ImportFault> {
    // White space has no meaning in an effect, and Casbin's own models differ in it.
    let plain: String = entry.value.chars().filter(|char| !char.is_whitespace()).collect();
    // Casbin itself replaces the `.` by `_`, and some models have that spelling.
    let plain = plain.replace("p_eft", "p.eft");
    let (allowed, denied) = ("some(where(p.eft==allow))", "some(where(p.eft==deny))");
    // The operands may be in either order.
    let both = [format!("{allowed}&&!{denied}"), format!("!{denied}&&{allowed}")];
    match &*plain {
        plain if plain == allowed => Ok(PolicyEffect::AllowOverride),
        plain if both.iter().any(|both| both == plain) => Ok(PolicyEffect::AllowAndDeny),
        plain if plain.strip_prefix('!') == Some(denied) => Ok(PolicyEffect::DenyOverride),
        "priority(p.eft)||deny" => Ok(PolicyEffect::Priority),
        "subjectPriority(p.eft)||deny" => Err(entry.fault(
            "`subjectPriority` orders lines by the depth of roles; number the lines by a column `priority` instead",
        )),
        _ => Err(entry.fault(format!(
            "the effect `{}` is not known; use one of Casbin's four", entry.value
        ))),
    }
}
