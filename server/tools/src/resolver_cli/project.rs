//! The files of a resolver: its component, and in the same folder its manifest and its checks.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, anyhow, bail, ensure};
use portcullis_engine::json;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::Manifest;

/// The default files, in the folder of the component.
pub(super) const MANIFEST_FILE: &str = "manifest.json";
pub(super) const CHECKS_FILE: &str = "checks.json";

/// Complete "expected …" for a file that is not there.
const COMPONENT_OR_FOLDER: &str = "a component (a `.wasm` file) or the folder that has it";
pub(super) const MANIFEST: &str =
    "the manifest of the resolver there, or its path with `--manifest`";
pub(super) const CHECKS: &str = "the checks of the resolver there, or their path with `--checks`";

/// The files of one resolver.
pub(crate) struct Project {
    /// The component.
    pub(crate) component: PathBuf,
}

impl Project {
    /// Finds the project of a component, or of a folder that contains exactly one component.
    pub(crate) fn find(path: &Path) -> anyhow::Result<Self> {
        if !path.is_dir() {
            let there = path.exists();
            ensure!(there, "`{}` does not exist: expected {COMPONENT_OR_FOLDER}", path.display());
            return Ok(Self { component: path.to_owned() });
        }
        let mut components = Self::components(path)?;
        let folder = path.display();
        match components.len() {
            0 => {
                bail!(
                    "`{folder}` has no component; build it with `portcullis resolver build {folder}`"
                )
            }
            1 => Ok(Self { component: components.swap_remove(0) }),
            count => bail!("`{folder}` has {count} components; give the path of one component"),
        }
    }

    /// Returns the components in `folder`.
    pub(crate) fn components(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut components = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let file = entry.with_context(|| folder.display().to_string())?.path();
            if file.extension().is_some_and(|extension| extension == "wasm") {
                // `./geo.wasm` is shown as `geo.wasm`.
                components.push(file.strip_prefix(".").map(Path::to_owned).unwrap_or(file));
            }
        }
        Ok(components)
    }

    /// Reads the component.
    pub(crate) fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        read(&self.component, COMPONENT_OR_FOLDER)
    }

    /// Returns `given`, or else the path of the file `name` in the folder of the component.
    pub(super) fn beside(&self, given: Option<&Path>, name: &str) -> PathBuf {
        given.map_or_else(|| self.component.with_file_name(name), Path::to_owned)
    }
}

/// Reads a manifest with the rules of the service.
pub(super) fn manifest(file: &Path, rules: &EgressRules) -> anyhow::Result<Manifest> {
    let bytes = read(file, MANIFEST)?;
    let json = json::parse(&bytes).with_context(|| file.display().to_string())?;
    Manifest::parse(&json, rules).with_context(|| file.display().to_string())
}

/// Reads a file. An error names the file. If there is none, the error has `expected`, which completes "expected …".
pub(super) fn read(file: &Path, expected: &str) -> anyhow::Result<Vec<u8>> {
    fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow!("`{}` does not exist: expected {expected}", file.display())
        }
        _ => anyhow::Error::new(error).context(file.display().to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_path_is_named_with_what_is_expected() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("geo");
        let shown = missing.display();
        let error = Project::find(&missing).map(|_| ()).expect_err("no folder").to_string();
        let expected = "expected a component (a `.wasm` file) or the folder that has it";
        assert_eq!(error, format!("`{shown}` does not exist: {expected}"));
        for what in [MANIFEST, CHECKS] {
            let error = read(&missing, what).expect_err("no file").to_string();
            assert_eq!(error, format!("`{shown}` does not exist: expected {what}"));
        }
        let shown = folder.path().display();
        let error = Project::find(folder.path()).map(|_| ()).expect_err("no component").to_string();
        assert!(
            error.starts_with(&format!("`{shown}` has no component; build it with")),
            "{error}"
        );
    }
}
