//! The engine needs no runtime, no cache and no database, and it builds for the browser.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{expect_none, workspace};

const ENGINE: &str = "portcullis-engine";
const TARGET: &str = "wasm32-unknown-unknown";
const FORBIDDEN: [&str; 5] = ["moka", "papaya", "sqlx", "tokio", "wasmtime"];

/// Returns the names of all packages that `package` needs in a normal build, over any number of steps.
fn tree(package: &str) -> Result<BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(workspace::root())
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    let output =
        cargo.args(["--format", "{p}", "--package", package]).output().context("cargo tree")?;
    anyhow::ensure!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout)?;
    Ok(lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

/// Returns the packages of a tree that the engine must not need.
fn faults(tree: &BTreeSet<String>) -> Vec<String> {
    let is_forbidden = |name: &&String| {
        FORBIDDEN.iter().any(|it| name == it || name.starts_with(&format!("{it}-")))
    };
    tree.iter().filter(is_forbidden).map(|name| format!("{ENGINE} needs `{name}`")).collect()
}

#[test]
fn the_engine_needs_no_runtime_cache_or_database() -> Result<()> {
    expect_none(&faults(&tree(ENGINE)?))
}

#[test]
fn a_forbidden_dependency_is_found() -> Result<()> {
    let found = faults(&tree("portcullis-resolver-host")?);
    anyhow::ensure!(found.iter().any(|fault| fault.contains("`wasmtime`")), "{found:?}");
    Ok(())
}

/// Compiles a package for the browser, without machine code, in a target folder of its own: the lock of the outer build may be
/// held.
fn compiles_for_the_browser(package: &str) -> Result<bool> {
    let folder = workspace::metadata()?.target_directory.join("architecture");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace::root()).args(["check", "--locked", "--package", package]);
    cargo.args(["--target", TARGET]).arg("--target-dir").arg(folder);
    Ok(cargo.status().context("cargo check")?.success())
}

/// Returns whether the target is installed for the toolchain of the repository.
fn has_target() -> Result<bool> {
    let rustc =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = String::from_utf8(rustc.context("rustc")?.stdout)?;
    Ok(std::path::Path::new(folder.trim()).exists())
}

#[test]
fn the_engine_compiles_for_the_browser() -> Result<()> {
    if !has_target()? {
        anyhow::ensure!(
            std::env::var_os("CI").is_none(),
            "the target {TARGET} is missing: `rustup target add {TARGET}`"
        );
        eprintln!("SKIPPED: the target {TARGET} is missing: `rustup target add {TARGET}`");
        return Ok(());
    }
    anyhow::ensure!(compiles_for_the_browser(ENGINE)?, "{ENGINE} does not compile for {TARGET}");
    Ok(())
}
