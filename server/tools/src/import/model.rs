//! Casbin model files, as far as the importer needs them.

use portcullis_engine::casbin;

use super::columns::{Column, Comparison, RoleScope};
use super::fault::ImportFault;
use super::matcher::{comparison, split, superuser};

/// A model that rules of Portcullis can express.
#[derive(Debug)]
pub(super) struct Model {
    /// The columns of a `p` line.
    pub(super) columns: Vec<Column>,
    /// The scope of `g` lines; `None` if the matcher does not use roles.
    pub(super) roles: Option<RoleScope>,
    pub(super) effect: PolicyEffect,
    /// The comparison of each column of a `p` line except the effect.
    comparisons: Vec<(Column, Comparison)>,
    /// Subjects that may do everything.
    pub(super) superusers: Vec<String>,
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

/// One `key = value` of a model file.
struct Entry {
    section: String,
    key: String,
    value: String,
    line: usize,
}

/// The matcher of a model.
struct Matcher {
    comparisons: Vec<(Column, Comparison)>,
    superusers: Vec<String>,
}

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// The first part of the file that rules cannot express.
    pub(super) fn parse(text: &str) -> Result<Self, ImportFault> {
        let entries = entries(text)?;
        let request = required(&entries, "request_definition", "r")?;
        let policy = required(&entries, "policy_definition", "p")?;
        let effect = required(&entries, "policy_effect", "e")?;
        let matcher = required(&entries, "matchers", "m")?;
        let role = find(&entries, "role_definition", "g");
        for entry in &entries {
            let used = [Some(request), Some(policy), Some(effect), Some(matcher), role];
            if !used.into_iter().flatten().any(|used| used.line == entry.line) {
                let what = format!("`{}` of `[{}]` is not supported", entry.key, entry.section);
                return Err(entry.fault(what));
            }
        }
        let columns = policy.columns()?;
        let mut of_request = request.columns()?;
        // A line can have an effect although a request has none.
        of_request.push(Column::Eft);
        if let Some(other) = columns.iter().find(|column| !of_request.contains(column)) {
            let name = other.name();
            return Err(request.fault(format!(
                "`[request_definition]` does not have `{name}`, but `[policy_definition]` does"
            )));
        }
        let defined = role.map(Entry::role_scope).transpose()?;
        let effect = effect.effect()?;
        let Matcher { comparisons, superusers } = matcher.matcher(&columns, defined)?;
        let only_allows = effect == PolicyEffect::AllowOverride && !columns.contains(&Column::Eft);
        if !superusers.is_empty() && !only_allows {
            let what = "`|| r.sub == \"…\"` is supported only if every policy line allows";
            return Err(matcher.fault(what));
        }
        let uses_roles = |(_, comparison): &_| matches!(comparison, Comparison::Role(_));
        let roles = defined.filter(|_| comparisons.iter().any(uses_roles));
        Ok(Self { columns, roles, effect, comparisons, superusers })
    }

    /// Returns how the matcher compares `column`.
    pub(super) fn comparison(&self, column: Column) -> Comparison {
        let found = self.comparisons.iter().find(|(own, _)| *own == column);
        found.map_or(Comparison::Equal, |(_, comparison)| *comparison)
    }

    /// Returns whether policy lines name a domain.
    pub(super) fn has_domain(&self) -> bool {
        self.columns.contains(&Column::Dom)
    }
}

/// Returns the entries of a file: sections in brackets, comments, and lines that `\` continues.
fn entries(text: &str) -> Result<Vec<Entry>, ImportFault> {
    let (mut entries, mut section) = (Vec::<Entry>::new(), String::new());
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..);
    while let Some((first, number)) = lines.next() {
        if first.is_empty() || first.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
            continue;
        }
        let mut whole = first.to_owned();
        while let Some(continued) = whole.strip_suffix('\\') {
            whole = format!("{continued}{}", lines.next().map_or("", |(next, _)| next));
        }
        let Some((key, value)) = whole.split_once('=') else {
            return Err(ImportFault::at(number, "expected `key = value`"));
        };
        let (key, value) = (key.trim().to_owned(), without_comment(value).trim().to_owned());
        if find(&entries, &section, &key).is_some() {
            return Err(ImportFault::at(number, format!("`{key}` occurs twice")));
        }
        entries.push(Entry { section: section.clone(), key, value, line: number });
    }
    Ok(entries)
}

fn find<'e>(entries: &'e [Entry], section: &str, key: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.section == section && entry.key == key)
}

fn required<'e>(entries: &'e [Entry], section: &str, key: &str) -> Result<&'e Entry, ImportFault> {
    let missing = || ImportFault::of_file(format!("`{key} = …` in `[{section}]` is missing"));
    find(entries, section, key).ok_or_else(missing)
}

/// Returns the text before a `#` that stands outside of quotes.
fn without_comment(value: &str) -> &str {
    let mut quote = None;
    for (at, char) in value.char_indices() {
        match (quote, char) {
            (None, '#') => return &value[..at],
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if char == open => quote = None,
            _ => {}
        }
    }
    value
}

impl Entry {
    fn fault(&self, reason: impl Into<String>) -> ImportFault {
        ImportFault::at(self.line, reason)
    }

    /// The fault that a matcher has a part which rules cannot express.
    fn unsupported(&self, part: &[&str]) -> ImportFault {
        self.fault(format!("`{}` is not supported in a matcher", part.concat()))
    }

    fn tokens(&self) -> Result<Vec<&str>, ImportFault> {
        casbin::tokens(&self.value).map_err(|fault| self.fault(fault.to_string()))
    }

    /// Reads `sub, dom, obj, act, eft`, in any order; `dom` and `eft` are optional.
    fn columns(&self) -> Result<Vec<Column>, ImportFault> {
        let mut columns = Vec::new();
        for name in self.value.split(',').map(str::trim) {
            match Column::parse(name) {
                Some(column) if !columns.contains(&column) => columns.push(column),
                _ => {
                    return Err(self.fault(format!(
                        "`{name}` is none of `sub`, `dom`, `obj`, `act`, `eft`, each once"
                    )));
                }
            }
        }
        for needed in [Column::Sub, Column::Obj, Column::Act] {
            if !columns.contains(&needed) {
                return Err(self.fault(format!("`{}` is missing", needed.name())));
            }
        }
        Ok(columns)
    }

    fn role_scope(&self) -> Result<RoleScope, ImportFault> {
        match &*self.tokens()? {
            ["_", ",", "_"] => Ok(RoleScope::Everywhere),
            ["_", ",", "_", ",", "_"] => Ok(RoleScope::ByDomain),
            _ => Err(self.fault("expected `_, _` or `_, _, _`")),
        }
    }

    fn effect(&self) -> Result<PolicyEffect, ImportFault> {
        match &*self.tokens()?.concat() {
            "some(where(p.eft==allow))" => Ok(PolicyEffect::AllowOverride),
            "some(where(p.eft==allow))&&!some(where(p.eft==deny))" => {
                Ok(PolicyEffect::AllowAndDeny)
            }
            "!some(where(p.eft==deny))" => Ok(PolicyEffect::DenyOverride),
            "priority(p.eft)||deny" => Ok(PolicyEffect::Priority),
            _ => Err(self.fault(format!("the effect `{}` is not supported", self.value))),
        }
    }

    /// Reads a matcher over `columns`; `defined` is the `[role_definition]`, if there is one.
    fn matcher(
        &self,
        columns: &[Column],
        defined: Option<RoleScope>,
    ) -> Result<Matcher, ImportFault> {
        let tokens = self.tokens()?;
        let alternatives = split(&tokens, "||");
        let Some((conjunction, others)) = alternatives.split_first() else {
            return Err(self.unsupported(&tokens));
        };
        let mut comparisons = Vec::<(Column, Comparison)>::new();
        for part in split(conjunction, "&&") {
            let (column, found) =
                comparison(part, columns).ok_or_else(|| self.unsupported(part))?;
            if comparisons.iter().any(|(own, _)| *own == column) {
                return Err(self.fault(format!("`{}` is compared twice", column.name())));
            }
            if let Comparison::Role(scope) = found
                && defined != Some(scope)
            {
                let part = part.concat();
                return Err(self.fault(format!("`{part}` does not fit `[role_definition]`")));
            }
            comparisons.push((column, found));
        }
        for column in columns.iter().filter(|column| **column != Column::Eft) {
            if !comparisons.iter().any(|(own, _)| own == column) {
                return Err(self.fault(format!("`{}` is not compared", column.name())));
            }
        }
        let mut superusers = Vec::new();
        for part in others {
            superusers.push(superuser(part).ok_or_else(|| self.unsupported(part))?);
        }
        Ok(Matcher { comparisons, superusers })
    }
}
