//! The files of `RESOLVERS_DIR`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use portcullis_engine::json;
use portcullis_fairness::run_apart;
use portcullis_resolver_host::limits::MODULE_BYTES;

use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::Manifest;

/// Largest manifest: 64 values of 16 KiB fit.
const MANIFEST_BYTES: usize = 2 << 20;

/// The parts of a file's metadata that change with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    /// Seconds and nanoseconds.
    pub(super) modified: (i64, i64),
    pub(super) size: u64,
    pub(super) inode: u64,
}

/// The fingerprint of a component: of its module and of its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) module: FileId,
    pub(super) manifest: Option<FileId>,
}

/// The content of the files of a component.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) module: Vec<u8>,
    pub(super) manifest: Option<Vec<u8>>,
}

/// Lists the components of a directory by the name that their files share.
pub(super) async fn list(directory: &Path) -> io::Result<BTreeMap<String, Fingerprint>> {
    let directory = directory.to_owned();
    blocking(move || {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let is_module = path.extension().is_some_and(|extension| extension == "wasm");
            let name = path.file_stem().and_then(|stem| stem.to_str());
            if let (true, Some(name)) = (is_module, name)
                // The file may be gone since it was listed.
                && let Some(fingerprint) = fingerprint(&directory, name)?
            {
                found.insert(name.to_owned(), fingerprint);
            }
        }
        Ok(found)
    })
    .await
}

/// Reads the files of `name`. Returns `None` if they no longer have the `expected` fingerprint.
pub(super) async fn read(
    directory: &Path,
    name: &str,
    expected: Fingerprint,
) -> anyhow::Result<Option<Contents>> {
    let (directory, name) = (directory.to_owned(), name.to_owned());
    blocking(move || {
        let module = read_up_to(&file(&directory, &name, "wasm"), MODULE_BYTES)?;
        let manifest = expected.manifest.map(|_| {
            let path = file(&directory, &name, "json");
            read_up_to(&path, MANIFEST_BYTES).with_context(|| format!("`{}`", path.display()))
        });
        let contents = Contents { module, manifest: manifest.transpose()? };
        // Only after the reads it is sure that no write came in between.
        Ok((fingerprint(&directory, &name)? == Some(expected)).then_some(contents))
    })
    .await
}

/// Parses the manifest in `text`. Without a text, the manifest grants nothing and `name` is the namespace.
pub(super) fn manifest(
    name: &str,
    text: Option<&[u8]>,
    egress: &EgressRules,
) -> anyhow::Result<Manifest> {
    let Some(text) = text else {
        // A file name may have hyphens, a namespace may not.
        let text = serde_json::json!({"namespace": name.replace('-', "_")}).to_string();
        let manifest = Manifest::parse(&json::parse(text.as_bytes())?, egress);
        return manifest
            .context("the file name is not a valid namespace, and there is no manifest");
    };
    parse_manifest(text, egress).with_context(|| format!("`{name}.json`"))
}

fn parse_manifest(text: &[u8], egress: &EgressRules) -> anyhow::Result<Manifest> {
    Ok(Manifest::parse(&json::parse(text)?, egress)?)
}

fn file(directory: &Path, name: &str, extension: &str) -> PathBuf {
    // `with_extension` would take a part of a name with a dot for one.
    directory.join(format!("{name}.{extension}"))
}

fn fingerprint(directory: &Path, name: &str) -> io::Result<Option<Fingerprint>> {
    let module = file_id(&file(directory, name, "wasm"))?;
    let manifest = file_id(&file(directory, name, "json"))?;
    Ok(module.map(|module| Fingerprint { module, manifest }))
}

/// Returns the id of the file at `path`; `None` if no file is there.
fn file_id(path: &Path) -> io::Result<Option<FileId>> {
    // It follows links: files in a volume of Kubernetes are links.
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(FileId {
            modified: (found.mtime(), found.mtime_nsec()),
            size: found.size(),
            inode: found.ino(),
        })),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_up_to(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit tells that there are too many.
    File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        bail!("it has more than {} MiB", limit >> 20);
    }
    Ok(bytes)
}

/// Runs work that waits for a disk on a thread that may block.
async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<io::Error> + Send + 'static,
{
    run_apart(work).await.map_err(io::Error::other)?
}
