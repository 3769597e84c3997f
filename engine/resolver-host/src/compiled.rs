//! Compiled modules on disk, so that a start does not compile everything again.
//!
//! What is in the directory is run as it is. So it belongs to the service alone, which is checked, and nothing gets
//! there but what this process, or one like it, compiled. No compiled code is accepted from outside.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::digest::Digest;

/// The permissions of others.
const OTHERS: u32 = 0o077;
/// How the names of files begin that are being written.
const TEMPORARY: &str = ".tmp";

/// A directory of compiled modules.
#[derive(Debug)]
pub(crate) struct Compiled {
    directory: PathBuf,
    /// Of the compiler, its settings and the processor.
    compatibility: u64,
}

impl Compiled {
    /// Opens the directory, or creates it, and drops what another version compiled.
    pub(crate) fn open(directory: &Path, engine: &Engine) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        // A file of ours has our user as its owner.
        let ours = NamedTempFile::new_in(directory)?.as_file().metadata()?.uid();
        let metadata = fs::symlink_metadata(directory)?;
        if !metadata.is_dir() || metadata.uid() != ours || metadata.mode() & OTHERS != 0 {
            let why =
                format!("{} must be a directory that others cannot enter", directory.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let compiled = Self { directory: directory.to_owned(), compatibility: hasher.finish() };
        compiled.drop_others()?;
        Ok(compiled)
    }

    /// The component, if its code is here. Code that cannot be read is as good as none: it is compiled anew.
    #[expect(unsafe_code, reason = "runs what the file has: see the module's first lines")]
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let path = self.path(digest);
        if !path.exists() {
            return None;
        }
        // SAFETY: only `store` writes into the directory, which others cannot enter; it is written as a whole or not
        // at all, and never changed while it is mapped.
        unsafe { Component::deserialize_file(engine, path) }.ok()
    }

    /// Keeps a component's code.
    pub(crate) fn store(&self, digest: &Digest, component: &Component) -> io::Result<()> {
        let code = component.serialize().map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.directory)?;
        file.write_all(&code)?;
        file.as_file().sync_all()?;
        file.persist(self.path(digest))?;
        Ok(())
    }

    /// Drops a module's code, if it is here.
    pub(crate) fn remove(&self, digest: &Digest) -> io::Result<()> {
        if_there(fs::remove_file(self.path(digest))).map(drop)
    }

    /// Drops what was written before `before` and is of no use: the code of modules that are not among `used`, and
    /// files that were never finished.
    pub(crate) fn sweep(&self, used: &HashSet<Digest>, before: SystemTime) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let digest = name.strip_suffix(&self.suffix()).and_then(Digest::parse);
            let is_used = digest.map_or(!name.starts_with(TEMPORARY), |of| used.contains(&of));
            // What is being written may be gone, or have its final name, in the next moment.
            let is_old = || Ok(entry.metadata()?.modified()? < before);
            if !is_used && if_there(is_old())? == Some(true) {
                if_there(fs::remove_file(entry.path()))?;
            }
        }
        Ok(())
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(format!("{digest}{}", self.suffix()))
    }

    fn suffix(&self) -> String {
        format!("-{:016x}.cwasm", self.compatibility)
    }

    fn drop_others(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".cwasm") && !name.ends_with(&self.suffix()) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// What was done with a file; nothing if the file is not there.
fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}
