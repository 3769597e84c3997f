//! Builds the attribute resolvers of `components/` for WebAssembly, when a test or benchmark first needs one.

mod costly;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};

pub use costly::CostlyFunctions;

/// Returns the bytes of the component `components/examples/<name>.rs`.
///
/// # Errors
/// The components do not build, or there is no component of that name.
pub fn component(name: &str) -> Result<Vec<u8>> {
    static BUILT: OnceLock<Result<PathBuf>> = OnceLock::new();
    let directory = match BUILT.get_or_init(build) {
        Ok(directory) => directory,
        Err(error) => anyhow::bail!("{error:#}"),
    };
    let path = directory.join(name).with_extension("wasm");
    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Builds all components. Returns their directory.
fn build() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = here.join("components/Cargo.toml");
    let target = here.join("../../target/guests");
    eprintln!("building the resolvers of {} for wasm32-wasip2", manifest.display());
    let status = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--release", "--examples", "--target", "wasm32-wasip2"])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        // In place of the flags of the outer build, those of `portcullis resolver build`.
        .env("CARGO_ENCODED_RUSTFLAGS", "-Clink-arg=-zstack-size=65536")
        .status()
        .context("cannot run cargo")?;
    ensure!(
        status.success(),
        "cannot build {}: {status}; `rustup target add wasm32-wasip2` installs the target",
        manifest.display()
    );
    Ok(target.join("wasm32-wasip2/release/examples"))
}
