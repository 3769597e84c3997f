//! Casbin model files: what the importer has to know of one.

use super::Fault;
use super::matcher::{comparison, split, squeezed};

/// A model that rules of Portcullis can express.
#[derive(Debug)]
pub(super) struct Model {
    /// The columns of a `p` line.
    pub(super) columns: Vec<Column>,
    /// Whether `g` lines name a domain; `None` when roles play no part.
    pub(super) roles: Option<Roles>,
    pub(super) effect: PolicyEffect,
    /// How each column but the effect is compared with the request.
    compared: Vec<(Column, Compare)>,
    /// Subjects that may do everything.
    pub(super) superusers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Sub,
    Dom,
    Obj,
    Act,
    Eft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Roles {
    /// `g = _, _`
    Everywhere,
    /// `g = _, _, _`
    ByDomain,
}

/// Which of the lines that match decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyEffect {
    /// Any allow; deny lines are of no effect.
    AllowOverride,
    /// Any allow, unless there is a deny.
    AllowAndDeny,
    /// Everything is allowed, unless there is a deny.
    DenyOverride,
    /// The first.
    Priority,
}

/// How a matcher compares a value of the request with that of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    /// `r.x == p.x`: a `*` is a character.
    Equal,
    /// `(r.x == p.x || p.x == "*")`
    OrStar,
    /// `keyMatch(r.x, p.x)`: what follows a `*` is of no account.
    KeyMatch,
    /// `g(r.sub, p.sub)`, or the same with `r.dom`.
    Role,
}

impl Column {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sub => "sub",
            Self::Dom => "dom",
            Self::Obj => "obj",
            Self::Act => "act",
            Self::Eft => "eft",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let all = [Self::Sub, Self::Dom, Self::Obj, Self::Act, Self::Eft];
        all.into_iter().find(|column| column.name() == name)
    }
}

/// One `key = value` of a model file.
struct Entry {
    section: String,
    key: String,
    value: String,
    line: usize,
}

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// The first thing in it that rules cannot express.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let entries = entries(text)?;
        let find = |section: &str, key: &str| {
            entries.iter().find(|entry| entry.section == section && entry.key == key)
        };
        let need = |section: &'static str, key: &str| {
            let missing = || Fault::of_file(format!("`{key} = …` in `[{section}]` is missing"));
            find(section, key).ok_or_else(missing)
        };
        let [request, policy] = [need("request_definition", "r")?, need("policy_definition", "p")?];
        let [effect, matcher] = [need("policy_effect", "e")?, need("matchers", "m")?];
        let role = find("role_definition", "g");
        for entry in &entries {
            let used = [Some(request), Some(policy), Some(effect), Some(matcher), role];
            if !used.into_iter().flatten().any(|used| used.line == entry.line) {
                let what = format!("`{}` of `[{}]` is not supported", entry.key, entry.section);
                return Err(entry.fault(what));
            }
        }
        let columns = policy.columns()?;
        let mut of_request = request.columns()?;
        of_request.push(Column::Eft);
        if let Some(other) = columns.iter().find(|column| !of_request.contains(column)) {
            return Err(
                request.fault(format!("a request has no `{}`, which policies have", other.name()))
            );
        }
        let with_roles = role.map(Entry::roles).transpose()?;
        let effect = effect.effect()?;
        let (compared, roles, superusers) = matcher.matcher(&columns, with_roles)?;
        let plain = effect == PolicyEffect::AllowOverride && !columns.contains(&Column::Eft);
        if !superusers.is_empty() && !plain {
            let what = "`|| r.sub == \"…\"` is supported only where every line allows";
            return Err(matcher.fault(what.to_owned()));
        }
        Ok(Self { columns, roles, effect, compared, superusers })
    }

    /// How the matcher compares `column`.
    pub(super) fn compare(&self, column: Column) -> Compare {
        let found = self.compared.iter().find(|(own, _)| *own == column);
        found.map_or(Compare::Equal, |(_, compare)| *compare)
    }

    pub(super) fn has_domain(&self) -> bool {
        self.columns.contains(&Column::Dom)
    }
}

/// The entries of a file: sections in brackets, comments, and lines that `\` continues.
fn entries(text: &str) -> Result<Vec<Entry>, Fault> {
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
        let fault = |what: &str| Fault::at(number, what.to_owned());
        let (key, value) = whole.split_once('=').ok_or_else(|| fault("expected `key = value`"))?;
        let (key, value) = (key.trim().to_owned(), without_comment(value).trim().to_owned());
        if entries.iter().any(|entry| entry.section == section && entry.key == key) {
            return Err(fault(&format!("`{key}` is there twice")));
        }
        entries.push(Entry { section: section.clone(), key, value, line: number });
    }
    Ok(entries)
}

/// What stands before a `#` outside of quotes.
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

type Compared = Vec<(Column, Compare)>;

impl Entry {
    fn fault(&self, reason: String) -> Fault {
        Fault::at(self.line, reason)
    }

    /// `sub, dom, obj, act, eft`, in any order; `dom` and `eft` may be left out.
    fn columns(&self) -> Result<Vec<Column>, Fault> {
        let mut columns = Vec::new();
        for name in self.value.split(',').map(str::trim) {
            let column = Column::parse(name).filter(|column| !columns.contains(column));
            let what = || {
                self.fault(format!(
                    "`{name}` is none of `sub`, `dom`, `obj`, `act`, `eft`, each once"
                ))
            };
            columns.push(column.ok_or_else(what)?);
        }
        for needed in [Column::Sub, Column::Obj, Column::Act] {
            if !columns.contains(&needed) {
                return Err(self.fault(format!("`{}` is missing", needed.name())));
            }
        }
        Ok(columns)
    }

    fn roles(&self) -> Result<Roles, Fault> {
        match &*squeezed(&self.value) {
            "_,_" => Ok(Roles::Everywhere),
            "_,_,_" => Ok(Roles::ByDomain),
            _ => Err(self.fault("expected `_, _` or `_, _, _`".to_owned())),
        }
    }

    fn effect(&self) -> Result<PolicyEffect, Fault> {
        match &*squeezed(&self.value) {
            "some(where(p.eft==allow))" => Ok(PolicyEffect::AllowOverride),
            "some(where(p.eft==allow))&&!some(where(p.eft==deny))" => {
                Ok(PolicyEffect::AllowAndDeny)
            }
            "!some(where(p.eft==deny))" => Ok(PolicyEffect::DenyOverride),
            "priority(p.eft)||deny" => Ok(PolicyEffect::Priority),
            _ => Err(self.fault(format!("the effect `{}` is not supported", self.value))),
        }
    }

    /// What the matcher compares and how, whether it asks for roles, and its superusers.
    fn matcher(
        &self,
        columns: &[Column],
        defined: Option<Roles>,
    ) -> Result<(Compared, Option<Roles>, Vec<String>), Fault> {
        let text = squeezed(&self.value);
        let mut alternatives = split(&text, "||").into_iter();
        let conjunction = alternatives.next().unwrap_or_default();
        let superuser = |text: &str| {
            let name = text.strip_prefix("r.sub==\"")?.strip_suffix('"')?;
            (!name.contains(['"', '\\'])).then(|| name.to_owned())
        };
        let unsupported =
            |part: &str| self.fault(format!("`{part}` is not supported in a matcher"));
        let superusers: Result<Vec<_>, _> =
            alternatives.map(|part| superuser(part).ok_or_else(|| unsupported(part))).collect();
        let (mut compared, mut roles) = (Compared::new(), None);
        for part in split(conjunction, "&&") {
            let (column, compare) = comparison(part, columns).ok_or_else(|| unsupported(part))?;
            if compared.iter().any(|(own, _)| *own == column) {
                return Err(self.fault(format!("`{}` is compared twice", column.name())));
            }
            if compare == Compare::Role {
                let asked =
                    if part.contains("r.dom") { Roles::ByDomain } else { Roles::Everywhere };
                if defined != Some(asked) {
                    return Err(self.fault(format!("`{part}` does not fit `[role_definition]`")));
                }
                roles = Some(asked);
            }
            compared.push((column, compare));
        }
        for column in columns.iter().filter(|column| **column != Column::Eft) {
            if !compared.iter().any(|(own, _)| own == column) {
                return Err(self.fault(format!("`{}` is not compared", column.name())));
            }
        }
        Ok((compared, roles, superusers?))
    }
}
