//! `portcullis init`: writes the first folder of a tenant.

mod answers;
mod files;

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::{Context, bail};

use answers::{FirstTenant, ask, why_default};

use portcullis_bundle::SCHEMAS;

use crate::schema;

pub use answers::InitArguments;
pub(crate) use answers::is_plain;

/// Writes the files of a tenant. With a terminal (`questions`), asks for what the arguments leave out.
///
/// # Errors
/// An answer cannot be used, or a file exists or cannot be written. Nothing is written if a file exists.
pub fn run(
    arguments: &InitArguments,
    questions: Option<&mut dyn BufRead>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let folder = &arguments.dir;
    must_be_free(folder)?;
    let name = tenant_of(folder);
    let first = ask(arguments, &name, questions, out)?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // Nothing is asked between these writes: all answers are known to be usable.
    for (name, text) in files::all(&first) {
        let file = folder.join(name);
        write_new(&file, &text).with_context(|| file.display().to_string())?;
    }
    schema::write(&folder.join(files::SCHEMA_FOLDER), &SCHEMAS, &[])?;
    told(folder, &first, out)?;
    if let Some(why) = why_default(arguments, &name, &first) {
        writeln!(out, "\n{why}")?;
    }
    Ok(())
}

/// Refuses a folder that has a file of a tenant folder, or the folder of schemas.
fn must_be_free(folder: &Path) -> anyhow::Result<()> {
    let names = SCHEMAS.iter().map(|schema| schema.file).chain([files::SCHEMA_FOLDER]);
    let existing = names.filter(|name| folder.join(name).exists());
    let existing: Vec<String> = existing.map(|name| format!("`{name}`")).collect();
    if existing.is_empty() {
        return Ok(());
    }
    bail!(
        "`{}` already has {}: nothing is written; choose another folder",
        folder.display(),
        existing.join(", ")
    )
}

/// Returns the name of the folder.
fn tenant_of(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // The last part of `acme/.` is `acme`.
    let name = absolute.components().next_back().map(|part| part.as_os_str().to_string_lossy());
    name.unwrap_or_default().into_owned()
}

/// Writes a file. Fails if it exists.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    // A file that came between the check and here must not be replaced.
    fs::OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}

fn told(folder: &Path, first: &FirstTenant, out: &mut dyn Write) -> anyhow::Result<()> {
    let (shown, word) = (folder.display(), shell_word(folder));
    let FirstTenant { tenant, types, roles, domains } = first;
    let types = types
        .iter()
        .map(|kind| format!("`{}` with the verbs {}", kind.name, kind.verbs.join(", ")));
    let types: Vec<String> = types.collect();
    let in_domains = match domains.is_empty() {
        true => String::new(),
        false => format!(" in the domains {}", domains.join(", ")),
    };
    writeln!(
        out,
        "wrote the tenant `{tenant}` to `{shown}`: {} and the roles {}{in_domains}",
        types.join(", "),
        roles.join(", ")
    )?;
    writeln!(out, "\nNext steps:\n")?;
    writeln!(out, "    portcullis test {word}   # runs the cases of the folder")?;
    writeln!(
        out,
        "    portcullis dev {word}    # serves the tenant, and reloads it when a file changes"
    )?;
    let domain = domains.first().map(|domain| format!(" --domain {domain}")).unwrap_or_default();
    for kind in first.types.iter().take(1) {
        let (user, name, last) = (files::USERS[0], &kind.name, kind.last_verb());
        writeln!(out, "    portcullis check --dir {word} {user} {last} {name}:{last}{domain}")?;
    }
    Ok(())
}

/// Returns the path as one word of a POSIX shell.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)) {
        return text;
    }
    // Inside single quotes a shell reads nothing but the end quote.
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
