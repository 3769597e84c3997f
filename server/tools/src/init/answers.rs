//! The answers to the three questions of `portcullis init`.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::{anyhow, ensure};
use portcullis_engine::types::{ACTION, CONTEXT, USER};

/// The times that a question is asked before the command gives up.
const ATTEMPTS: usize = 3;
/// The longest name, in bytes. Names of the files have less than the limits of the service.
const MAX_NAME: usize = 63;
/// The most types, verbs, roles or domains: the files stay short enough to read.
const MAX_NAMES: usize = 8;
const DEFAULT_TENANT: &str = "acme";
const DEFAULT_RESOURCE: &str = "document:read,write";
const DEFAULT_ROLES: &str = "editor,viewer";
/// Words that YAML reads as another type.
const NO_TEXT: [&str; 3] = ["false", "null", "true"];
/// Roles with a meaning in the files: `admin` is the role of managers.
const TAKEN: [&str; 2] = ["admin", "suspended"];
/// Types with a meaning in `types.yaml`: they are not types of resources.
const TAKEN_TYPES: [&str; 3] = [USER, CONTEXT, ACTION];

/// The arguments of `portcullis init`.
#[derive(Debug, clap::Args)]
pub struct InitArguments {
    /// The folder. It is created if it is missing.
    pub(super) dir: PathBuf,
    /// The id of the tenant (default: the name of the folder).
    #[arg(long, value_name = "ID")]
    pub(super) tenant: Option<String>,
    /// A type of resources and its verbs, or several: `document:read,write,invoice:pay`. May be repeated (default:
    /// `document:read,write`).
    #[arg(long, value_name = "NAME:VERB,…")]
    pub(super) resource: Vec<String>,
    /// The roles. The first may do everything, the others only the first verb (default: `editor,viewer`).
    #[arg(long, value_name = "ROLE,…")]
    pub(super) roles: Option<String>,
    /// Domains, such as workspaces: roles then hold in every domain, and a policy ties each object to its own (default: the
    /// tenant is the only domain).
    #[arg(long, value_name = "DOMAIN,…")]
    pub(super) domains: Option<String>,
}

/// The first tenant, as the answers describe it.
#[derive(Debug, PartialEq)]
pub(super) struct FirstTenant {
    pub(super) tenant: String,
    /// At least one.
    pub(super) types: Vec<FirstType>,
    /// At least one; the first may do everything.
    pub(super) roles: Vec<String>,
    /// None: the tenant is the only domain.
    pub(super) domains: Vec<String>,
}

/// A type of resources.
#[derive(Debug, PartialEq)]
pub(super) struct FirstType {
    pub(super) name: String,
    /// At least one.
    pub(super) verbs: Vec<String>,
}

impl FirstType {
    pub(super) fn last_verb(&self) -> &str {
        self.verbs.last().map_or("", |verb| verb)
    }
}

/// Takes each answer from the arguments, from the terminal, or from the defaults.
pub(super) fn ask(
    arguments: &InitArguments,
    folder: &str,
    questions: Option<&mut dyn BufRead>,
    out: &mut dyn Write,
) -> anyhow::Result<FirstTenant> {
    let default = if name(folder).is_ok() { folder } else { DEFAULT_TENANT };
    let mut asker = Asker { questions, out };
    let question = "The id of the tenant";
    let tenant = asker.answer(("--tenant", question, default), &arguments.tenant, name)?;
    let given = (!arguments.resource.is_empty()).then(|| arguments.resource.join(","));
    let question = "The types of resources, each with its verbs";
    let types = asker.answer(("--resource", question, DEFAULT_RESOURCE), &given, types)?;
    let question = "The roles; the first may do everything, the others the first verb";
    let roles = asker.answer(("--roles", question, DEFAULT_ROLES), &arguments.roles, roles)?;
    let domains = match &arguments.domains {
        Some(text) => names(text).map_err(|expected| anyhow!("--domains: expected {expected}"))?,
        None => Vec::new(),
    };
    Ok(FirstTenant { tenant, types, roles, domains })
}

/// Returns why the id of the tenant is not the name of the folder, if that name cannot be an id.
pub(super) fn why_default(
    arguments: &InitArguments,
    folder: &str,
    first: &FirstTenant,
) -> Option<String> {
    if arguments.tenant.is_some() || first.tenant != DEFAULT_TENANT {
        return None;
    }
    let expected = name(folder).err()?;
    Some(format!(
        "The id of the tenant is `{DEFAULT_TENANT}`, because the name of the folder cannot be an id (expected \
         {expected}). `--tenant` chooses another."
    ))
}

/// A terminal, if there is one.
struct Asker<'q, 'o> {
    questions: Option<&'q mut dyn BufRead>,
    out: &'o mut dyn Write,
}

impl Asker<'_, '_> {
    /// Returns the value of the flag, or the answer to the question; an empty answer is the default.
    fn answer<T>(
        &mut self,
        (flag, question, default): (&str, &str, &str),
        given: &Option<String>,
        read: fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<T> {
        if let Some(text) = given {
            return read(text).map_err(|expected| anyhow!("{flag}: expected {expected}"));
        }
        // Without a terminal nobody can answer, so the default counts.
        let Some(questions) = &mut self.questions else {
            return read(default).map_err(|expected| anyhow!("{flag}: expected {expected}"));
        };
        for _ in 0..ATTEMPTS {
            write!(self.out, "{question} [{default}]: ")?;
            self.out.flush()?;
            let mut line = String::new();
            // `read_line` returns 0 only at the end of the input: an empty line still has its break.
            ensure!(questions.read_line(&mut line)? > 0, "the input ended before the answers");
            let text = if line.trim().is_empty() { default } else { line.trim() };
            match read(text) {
                Ok(answer) => return Ok(answer),
                Err(expected) => writeln!(self.out, "  expected {expected}")?,
            }
        }
        Err(anyhow!("no answer that can be used; give it with {flag}"))
    }
}

/// Reads a name that needs no quotes in YAML.
fn name(text: &str) -> Result<String, String> {
    let is_sound = text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_plain)
        // YAML would read such a name as another type than text.
        && !NO_TEXT.contains(&&*text.to_ascii_lowercase());
    if is_sound {
        return Ok(text.to_owned());
    }
    Err(format!(
        "1 to {MAX_NAME} letters, digits, `-`, `_` and `.`, beginning with a letter, not `{text}`"
    ))
}

/// Returns whether a name of a tenant that a command creates may have this character.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Reads `document:read,write,invoice:pay`, with commas or spaces: a verb without a type belongs to the type before it.
fn types(text: &str) -> Result<Vec<FirstType>, String> {
    let mut given: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut current = None;
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        // A word without a colon is a further verb of the type before it.
        let (kind, verb) = word.split_once(':').unzip();
        current = kind.or(current);
        let Some(kind) = current else {
            return Err(format!(
                "a type, `:` and verbs, such as `{DEFAULT_RESOURCE}`, not `{text}`"
            ));
        };
        // There may be a space between the colon and the verb.
        let verbs = Some(verb.unwrap_or(word)).filter(|verb| !verb.is_empty());
        match given.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, known)) => known.extend(verbs),
            None => given.push((kind, verbs.into_iter().collect())),
        }
    }
    match given.len() {
        // The text had only separators.
        0 => Err(format!("a type, `:` and verbs, such as `{DEFAULT_RESOURCE}`")),
        1..=MAX_NAMES => given.into_iter().map(first_type).collect(),
        _ => Err(format!("at most {MAX_NAMES} types")),
    }
}

fn first_type((kind, verbs): (&str, Vec<&str>)) -> Result<FirstType, String> {
    let kind = name(kind)?;
    if TAKEN_TYPES.contains(&&*kind) {
        return Err(format!("other types than `{kind}`, which is not a type of resources"));
    }
    if verbs.is_empty() {
        return Err(format!("a verb of `{kind}`, such as `{kind}:read`"));
    }
    Ok(FirstType { name: kind, verbs: names(&verbs.join(","))? })
}

/// Reads `editor,viewer`.
fn roles(text: &str) -> Result<Vec<String>, String> {
    let roles = names(text)?;
    match roles.iter().find(|role| TAKEN.contains(&&***role)) {
        Some(role) => Err(format!("other roles than `{role}`, which the files use themselves")),
        None => Ok(roles),
    }
}

/// Reads names between commas, each once.
fn names(text: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for part in text.split(',') {
        let name = name(part.trim())?;
        if names.contains(&name) {
            return Err(format!("each name once, but `{name}` comes twice"));
        }
        names.push(name);
    }
    if names.len() > MAX_NAMES {
        return Err(format!("at most {MAX_NAMES} names"));
    }
    Ok(names)
}
