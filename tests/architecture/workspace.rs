//! The repository: its packages as cargo sees them, and its files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

/// The folders of the product. All other packages are tests and samples.
const PRODUCT: [&str; 3] = ["engine", "server", "guest-sdk"];

/// Folders that hold no sources of the repository.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns what cargo says about the packages of the workspace, without their dependencies' packages.
pub(crate) fn metadata() -> Result<Metadata> {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata")
}

/// Returns the packages under the folders of the product, by name.
pub(crate) fn product_packages(metadata: &Metadata) -> Vec<&Package> {
    let in_product = |package: &&Package| {
        let path = package.manifest_path.strip_prefix(&metadata.workspace_root);
        path.is_ok_and(|path| PRODUCT.iter().any(|folder| path.starts_with(folder)))
    };
    let mut packages: Vec<&Package> =
        metadata.workspace_packages().into_iter().filter(in_product).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages
}

/// Returns the root file of the library or the binary of a package, relative to the repository.
pub(crate) fn crate_root(metadata: &Metadata, package: &Package) -> Result<PathBuf> {
    let is_normal = |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::Bin);
    let target = package.targets.iter().find(|target| target.kind.iter().any(is_normal));
    let target =
        target.with_context(|| format!("`{}` has neither a library nor a binary", package.name))?;
    Ok(target.src_path.strip_prefix(&metadata.workspace_root)?.to_path_buf().into_std_path_buf())
}

/// A file of the repository.
pub(crate) struct TextFile {
    /// Relative to the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Reads every file of the repository whose extension is one of `extensions`, in the order of their paths.
pub(crate) fn text_files(extensions: &[&str]) -> Result<Vec<TextFile>> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(root.join(&folder)).with_context(|| folder.display().to_string())?
        {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = folder.join(&*name);
            let kind = entry.file_type()?;
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                folders.push(path);
            } else if kind.is_file()
                && extensions.iter().any(|known| path.extension().is_some_and(|it| it == *known))
            {
                let text = std::fs::read_to_string(root.join(&path))
                    .with_context(|| path.display().to_string())?;
                files.push(TextFile { path, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
