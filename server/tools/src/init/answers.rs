//! The answers to the three questions of `portcullis init`.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::{anyhow, ensure};

/// The times that a question is asked before the command gives up.
const ATTEMPTS: usize = 3;
/// The longest name, in bytes. Names of the files have less than the limits of the service.
const MAX_NAME: usize = 63;
/// The most verbs or roles: the files stay short enough to read.
const MAX_NAMES: usize = 8;
const DEFAULT_TENANT: &str = "acme";
const DEFAULT_RESOURCE: &str = "document:read,write";
const DEFAULT_ROLES: &str = "editor,viewer";
/// Words that YAML reads as another type.
const NO_TEXT: [&str; 3] = ["false", "null", "true"];
/// Roles with a meaning in the files: `admin` is the role of managers.
const TAKEN: [&str; 2] = ["admin", "suspended"];

/// The arguments of `portcullis init`.
#[derive(Debug, clap::Args)]
pub struct InitArguments {
    /// The folder. It is created if it is missing.
    pub(super) dir: PathBuf,
    /// The id of the tenant (default: the name of the folder).
    #[arg(long, value_name = "ID")]
    pub(super) tenant: Option<String>,
    /// A resource and its verbs (default: `document:read,write`).
    #[arg(long, value_name = "NAME:VERB,…")]
    pub(super) resource: Option<String>,
    /// The roles. The first may do everything, the others only the first verb (default: `editor,viewer`).
    #[arg(long, value_name = "ROLE,…")]
    pub(super) roles: Option<String>,
}

/// The first tenant, as the answers describe it.
#[derive(Debug, PartialEq)]
pub(super) struct FirstTenant {
    pub(super) tenant: String,
    pub(super) resource: String,
    /// At least one.
    pub(super) verbs: Vec<String>,
    /// At least one; the first may do everything.
    pub(super) roles: Vec<String>,
}

impl FirstTenant {
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
    let question = "A resource and its verbs";
    let (resource, verbs) =
        asker.answer(("--resource", question, DEFAULT_RESOURCE), &arguments.resource, resource)?;
    let question = "The roles; the first may do everything, the others the first verb";
    let roles = asker.answer(("--roles", question, DEFAULT_ROLES), &arguments.roles, roles)?;
    Ok(FirstTenant { tenant, resource, verbs, roles })
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
        let Some(questions) = &mut self.questions else {
            return read(default).map_err(|expected| anyhow!("{flag}: expected {expected}"));
        };
        for _ in 0..ATTEMPTS {
            write!(self.out, "{question} [{default}]: ")?;
            self.out.flush()?;
            let mut line = String::new();
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

/// Reads `document:read,write`.
fn resource(text: &str) -> Result<(String, Vec<String>), String> {
    let Some((resource, verbs)) = text.split_once(':') else {
        return Err(format!("a name, `:` and verbs, such as `{DEFAULT_RESOURCE}`, not `{text}`"));
    };
    Ok((name(resource.trim())?, names(verbs)?))
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
