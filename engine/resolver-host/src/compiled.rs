//! The store of compiled code on disk, so that a start does not compile all modules again.
//!
//! The host runs the code in the directory without verifying it. So the directory must belong to the service alone,
//! which is checked, and only this process and its like write to it. No compiled code comes from outside: other code
//! comes only from the compiler, which is this program in another process.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, DirEntry};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;
use wasmtime::component::Component;
use wasmtime::{Engine, Precompiled};

use crate::digest::Digest;
use crate::error::LoadError;
use crate::log::cut;

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;
/// The prefix of the names of unfinished files.
const TEMPORARY: &str = ".tmp";

/// Refuses a directory that cannot have compiled code.
///
/// # Errors
/// The directory cannot be written, belongs to another user, or lets others in.
pub fn must_be_private(directory: &Path) -> io::Result<()> {
    // A new file shows our user id, without a system call that needs `unsafe`.
    let ours = NamedTempFile::new_in(directory)?.as_file().metadata()?.uid();
    // A link is refused, because it can be led elsewhere.
    let metadata = fs::symlink_metadata(directory)?;
    if metadata.is_dir() && metadata.uid() == ours && metadata.mode() & OTHERS == 0 {
        return Ok(());
    }
    let why = format!(
        "`{}` must be a directory of this user that others cannot enter: give it the mode 700, or name another one",
        directory.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// A directory of compiled modules.
#[derive(Debug)]
pub(crate) struct CompiledStore {
    directory: PathBuf,
    /// A hash of the compiler, its settings and the processor.
    compatibility: u64,
}

impl CompiledStore {
    /// Opens the directory, or creates it, and deletes the code of other compatibility.
    ///
    /// # Errors
    /// The directory cannot be made or read, belongs to another user, or lets others in.
    pub(crate) fn open(directory: &Path, engine: &Engine) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        // A directory that was there keeps its mode, so that it is judged here.
        must_be_private(directory)?;
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let compiled = Self { directory: directory.to_owned(), compatibility: hasher.finish() };
        compiled.drop_others()?;
        Ok(compiled)
    }

    /// Loads the component, if its code is stored. Returns `None` for unreadable code, which is then compiled again.
    #[expect(unsafe_code, reason = "runs the code of the file: see the first lines of this module")]
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let path = self.path(digest);
        if !path.exists() {
            return None;
        }
        // SAFETY: only `store` writes to the directory, which other users cannot enter. It replaces files as a whole and
        // never changes a file, so mapped code stays as it was compiled.
        unsafe { Component::deserialize_file(engine, path) }.ok()
    }

    /// Stores a component's code. Renames a finished file, so that no reader sees a part of it.
    pub(crate) fn store(&self, digest: &Digest, component: &Component) -> io::Result<()> {
        let code = component.serialize().map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.directory)?;
        file.write_all(&code)?;
        // Before the rename: after a crash the name must not stand for a part of the code.
        file.as_file().sync_all()?;
        file.persist(self.path(digest))?;
        Ok(())
    }

    /// Deletes a module's code, if it is stored.
    pub(crate) fn remove(&self, digest: &Digest) -> io::Result<()> {
        if_there(fs::remove_file(self.path(digest))).map(drop)
    }

    /// Deletes useless files that are older than `before`: the code of modules that are not among `used`, and
    /// unfinished files.
    pub(crate) fn sweep(&self, used: &HashSet<Digest>, before: SystemTime) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let digest = name.strip_suffix(&self.suffix()).and_then(Digest::parse);
            // A name that the store does not give is the file of somebody else, and stays.
            let is_used = digest.map_or(!name.starts_with(TEMPORARY), |of| used.contains(&of));
            // An unfinished file may be renamed at any moment, so it may be missing here.
            if !is_used && if_there(modified(&entry))?.is_some_and(|time| time < before) {
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

    /// Deletes the code of other compilers, settings or processors.
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

/// Loads the code that the compiler's process made.
///
/// # Errors
/// The bytes are not a compiled component of this version and these settings, or the component needs more than an
/// instance may have.
#[expect(
    unsafe_code,
    reason = "runs the code that the compiler made: see the first lines of this module"
)]
pub(crate) fn load_compiled(engine: &Engine, code: &[u8]) -> Result<Component, LoadError> {
    if Engine::detect_precompiled(code) != Some(Precompiled::Component) {
        let fault = "its output is not a compiled component".to_owned();
        return Err(LoadError::Compiler(fault));
    }
    // SAFETY: the bytes come from a child process that runs this program's compiler, over a pipe that no other process
    // has. wasmtime compares the version, the settings and the processor before it runs anything.
    unsafe { Component::deserialize(engine, code) }
        .map_err(|error| LoadError::Compile(cut(format!("{error:#}"))))
}

fn modified(file: &DirEntry) -> io::Result<SystemTime> {
    file.metadata()?.modified()
}

/// Returns the result for a file; `None` if the file is missing.
fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}
