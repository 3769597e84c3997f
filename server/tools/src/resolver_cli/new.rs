//! `portcullis resolver new`: creates a crate that builds and passes its tests.
//!
//! The crate contains the sources of the SDK, so it needs only crates.io.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use include_dir::{Dir, DirEntry, include_dir};

static TEMPLATE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/resolver_cli/template");
static SDK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../guest-sdk");
/// The manifest of the workspace, from which the SDK's manifest inherits.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// The longest name, in bytes: a namespace is made of it.
const MAX_NAME: usize = 63;
/// Names that a crate or a namespace cannot have, and names of the SDK.
const TAKEN: [&str; 11] = [
    "alloc",
    "core",
    "portcullis-guest-sdk",
    "proc-macro",
    "request",
    "resource",
    "sdk",
    "std",
    "test",
    "token",
    "user",
];

/// The arguments of `portcullis resolver new`.
#[derive(Debug, clap::Args)]
pub struct NewArguments {
    /// The resolver's name: lower-case letters, digits and `-`, beginning with a letter.
    #[arg(value_parser = name)]
    name: String,
    /// The folder to create (default: the name).
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

pub(super) fn run(arguments: &NewArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let name = &arguments.name;
    let folder = arguments.path.clone().unwrap_or_else(|| name.into());
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    fs::create_dir(&folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!(
            "`{}` already exists; give another name, or another folder with `--path`",
            folder.display()
        ),
        _ => anyhow!("{}: {error}", folder.display()),
    })?;
    for (path, text) in files(&TEMPLATE) {
        // In this repository the files have another ending, because Cargo and Git would read them.
        let path = path.strip_suffix(".template").unwrap_or(&path);
        write(&folder.join(path), &filled(&text, name))?;
    }
    for (path, text) in files(&SDK) {
        let text = if path == "Cargo.toml" { standalone(&text)? } else { text };
        write(&folder.join("sdk").join(path), &text)?;
    }
    let shown = folder.display();
    let namespace = namespace(name);
    writeln!(out, "created `{shown}`, a resolver with the namespace `{namespace}`; next steps:\n")?;
    writeln!(out, "    cd {shown}")?;
    writeln!(out, "    cargo test")?;
    writeln!(out, "    portcullis resolver build")?;
    writeln!(out, "    portcullis resolver test")?;
    Ok(())
}

/// Returns a template with its placeholders filled in.
fn filled(template: &str, name: &str) -> String {
    template.replace("{{name}}", name).replace("{{namespace}}", &namespace(name))
}

/// Returns the namespace of a crate: a namespace cannot have a `-`.
fn namespace(name: &str) -> String {
    name.replace('-', "_")
}

/// Reads the name of a crate from which a namespace can be made.
fn name(text: &str) -> Result<String, String> {
    let is_sound = text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_sound {
        return Err(format!(
            "expected 1 to {MAX_NAME} lower-case letters, digits and `-`, beginning with a letter and not ending with `-`"
        ));
    }
    if TAKEN.contains(&text) {
        return Err("expected another name: this name is reserved".to_owned());
    }
    Ok(text.to_owned())
}

/// Returns the text files of a folder and of its subfolders, with their paths.
fn files(folder: &Dir<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => files.extend(self::files(inner)),
            DirEntry::File(file) => files.extend(
                file.contents_utf8()
                    .map(|text| (file.path().display().to_string(), text.to_owned())),
            ),
        }
    }
    files
}

/// Returns the SDK's manifest with the values that it inherits from the workspace.
fn standalone(manifest: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    for line in manifest.lines() {
        let inherits = line
            .split_once(".workspace = true")
            .or_else(|| line.split_once(" = { workspace = true"));
        match inherits {
            // The lints are the last section, and other crates choose their own.
            None if line.starts_with("[lints]") => break,
            None => text.push_str(line),
            Some((key, _)) => {
                let prefix = format!("{key} = ");
                let value = WORKSPACE.lines().find(|line| line.starts_with(&prefix));
                text.push_str(value.with_context(|| format!("the workspace has no `{key}`"))?);
            }
        }
        text.push('\n');
    }
    ensure!(
        !text.contains("workspace"),
        "the SDK's manifest inherits a value that is not known here"
    );
    Ok(text)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_stands_alone() {
        let (_, manifest) =
            files(&SDK).into_iter().find(|(path, _)| path == "Cargo.toml").expect("a manifest");
        let text = standalone(&manifest).expect("everything is known");
        for line in
            ["edition = \"2024\"", "license = \"Apache-2.0\"", "wit-bindgen = { version = \""]
        {
            assert!(text.lines().any(|known| known.starts_with(line)), "`{line}` in {text}");
        }
        assert!(standalone("nothing.workspace = true").is_err());
    }

    #[test]
    fn names_make_a_crate_and_a_namespace() {
        for sound in ["geo", "geo-ip", "g", "g2", &"g".repeat(63)] {
            assert_eq!(name(sound).as_deref(), Ok(sound));
        }
        for odd in
            ["", "Geo", "2g", "geo_ip", "geo-", "-geo", "géo", "user", "core", &"g".repeat(64)]
        {
            assert!(name(odd).is_err(), "{odd}");
        }
    }
}
