//! Runs Cargo, which builds the components of crates.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use portcullis_config::Variables;
use serde::Deserialize;

use super::steps::{self, Step};

/// The compilation target of components.
const TARGET: &str = "wasm32-wasip2";

/// The flag for the stack of a component in its linear memory.
const STACK: &str = "-Clink-arg=-zstack-size=65536";

/// The members that are read of a line of `cargo build --message-format=json`.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// Builds the crate in `folder` for WebAssembly, and returns the component's path.
pub(super) fn build(folder: &Path, variables: &Variables) -> anyhow::Result<PathBuf> {
    let manifest = manifest_of(folder)?;
    have_target(folder)?;
    // Cargo writes its own progress to standard error.
    steps::say(&format!("cargo build --release --target {TARGET}"));
    let mut cargo = Command::new("cargo")
        .args(["build", "--release", "--target", TARGET])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(folder)
        // Replaces the flags of native builds, which are not meant for WebAssembly.
        .env("CARGO_ENCODED_RUSTFLAGS", flags(variables))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run `cargo`; https://rustup.rs installs it")?;
    let mut component = None;
    // The pipe is read to its end before the wait: Cargo stops while the pipe is full.
    for line in cargo.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let Ok(message) = serde_json::from_str::<CargoMessage>(&line?) else { continue };
        // The messages are about the dependencies, too.
        if message.reason == "compiler-artifact" && message.manifest_path == manifest {
            let mut files = message.filenames.into_iter();
            let built = files.find(|file| file.extension().is_some_and(|end| end == "wasm"));
            component = built.or(component);
        }
    }
    ensure!(cargo.wait()?.success(), "`cargo build` failed in `{}`", folder.display());
    component.with_context(|| {
        format!("`{}` does not build a component: expected `crate-type = [\"cdylib\"]` in its Cargo.toml", manifest.display())
    })
}

/// Returns the path of the `Cargo.toml` in `folder`, as Cargo names it.
fn manifest_of(folder: &Path) -> anyhow::Result<PathBuf> {
    let manifest = folder.join("Cargo.toml");
    ensure!(
        manifest.is_file(),
        "`{}` does not exist: expected the folder of a crate, as `portcullis resolver new NAME` creates it",
        manifest.display()
    );
    manifest.canonicalize().with_context(|| manifest.display().to_string())
}

/// Returns the flags of the build. One keeps the paths of this machine out of the component: panics name the sources of
/// dependencies. The other gives the component a stack of 64 KiB in place of 1 MiB, because the service cleans a small
/// memory faster after each call.
fn flags(variables: &Variables) -> String {
    let remap = variables.cargo_home().map(|home| format!("--remap-path-prefix={home}=cargo"));
    let stack = Some(STACK.to_owned());
    // Cargo separates encoded flags by this character.
    remap.into_iter().chain(stack).collect::<Vec<_>>().join("\u{1f}")
}

/// Makes sure that the standard library for the target is installed.
fn have_target(folder: &Path) -> anyhow::Result<()> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]).current_dir(folder);
    let found = rustc.output().context("cannot run `rustc`; https://rustup.rs installs it")?;
    let directory = String::from_utf8_lossy(&found.stdout);
    if found.status.success() && Path::new(directory.trim()).is_dir() {
        return Ok(());
    }
    let command = format!("rustup target add {TARGET}");
    let _step = Step::begin(format!("the target {TARGET} is missing, running: {command}"));
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]).current_dir(folder).stdin(Stdio::null());
    match rustup.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("`{command}` failed: {status}"),
        Err(_) => bail!("this Rust has no target {TARGET}; with rustup, `{command}` installs it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_crate_is_named_with_what_is_expected() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("geo");
        let error = manifest_of(&missing).expect_err("no crate").to_string();
        assert_eq!(
            error,
            format!(
                "`{}` does not exist: expected the folder of a crate, as `portcullis resolver new NAME` creates it",
                missing.join("Cargo.toml").display()
            )
        );
    }
}
