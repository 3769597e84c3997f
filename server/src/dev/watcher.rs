//! Tells when files of the watched directories changed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Changes with less time in between count as one: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// The longest time from the first change until it is told, whatever follows.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Watches directories, without those inside them.
pub(super) struct FolderWatcher {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    changes: mpsc::Receiver<()>,
}

impl FolderWatcher {
    /// Begins to watch.
    ///
    /// # Errors
    /// The operating system gives no more watches.
    pub(super) fn new(directories: BTreeSet<PathBuf>) -> anyhow::Result<Self> {
        // One place is enough: a change that finds it full is told together with the one that filled it.
        let (sender, changes) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // After an error changes may be lost, so that it counts as a change.
            if event.is_ok_and(|event| !matters(&event)) {
                return;
            }
            let _ = sender.try_send(());
        });
        let watcher = watcher.context("cannot watch files")?;
        let mut watcher = Self { watcher, watched: BTreeSet::new(), changes };
        watcher.follow(directories)?;
        Ok(watcher)
    }

    /// Watches these directories instead.
    ///
    /// # Errors
    /// A directory cannot be watched. The others are.
    pub(super) fn follow(&mut self, directories: BTreeSet<PathBuf>) -> anyhow::Result<()> {
        for gone in self.watched.difference(&directories) {
            // A directory that was deleted is not watched any more.
            let _ = self.watcher.unwatch(gone);
        }
        let mut outcome = Ok(());
        // A directory that was deleted and created again has the same path, but lost its watch.
        for directory in &directories {
            let watched = watch(&mut self.watcher, directory);
            // A directory that is gone by now has an event, which is read next.
            if watched.is_err() && directory.exists() {
                outcome = watched;
            }
        }
        self.watched = directories;
        outcome
    }

    /// Waits for a change, and then until the files are quiet. Returns false if no change can come any more.
    pub(super) async fn changed(&mut self) -> bool {
        if self.changes.recv().await.is_none() {
            return false;
        }
        settle(&mut self.changes).await;
        true
    }
}

fn watch(watcher: &mut RecommendedWatcher, directory: &Path) -> anyhow::Result<()> {
    let watched = watcher.watch(directory, RecursiveMode::NonRecursive);
    watched.with_context(|| format!("cannot watch `{}`", directory.display()))
}

/// Waits until no change came for [`QUIET`], but no longer than [`MAX_DELAY`].
async fn settle(changes: &mut mpsc::Receiver<()>) {
    let deadline = Instant::now() + MAX_DELAY;
    while Instant::now() < deadline {
        let quiet = deadline.min(Instant::now() + QUIET);
        if !matches!(timeout_at(quiet, changes.recv()).await, Ok(Some(()))) {
            return;
        }
    }
}

/// Returns whether an event can change a tenant: it writes, creates or removes a file that a tenant has, or a folder.
fn matters(event: &notify::Event) -> bool {
    let writes = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    writes && (event.paths.is_empty() || event.paths.iter().any(|path| can_be_of_tenant(path)))
}

fn can_be_of_tenant(path: &Path) -> bool {
    let ending = path.extension().map(OsStr::to_string_lossy);
    // A folder has no ending.
    ending.is_none_or(|ending| matches!(&*ending, "yaml" | "json" | "wasm"))
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, MetadataKind};

    use super::*;

    #[test]
    fn only_writes_of_files_of_a_tenant_matter() {
        let write = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let metadata = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        let close = |mode| EventKind::Access(AccessKind::Close(mode));
        for (kind, path, expected) in [
            (write, "acme/rules.yaml", true),
            (write, "acme/.rules.yaml.swp", false),
            (write, "acme/rules.yaml~", false),
            (write, "resolvers/geo/geo.wasm", true),
            (EventKind::Create(CreateKind::Folder), "beta", true),
            (metadata, "acme/rules.yaml", false),
            (EventKind::Access(AccessKind::Read), "acme/rules.yaml", false),
            (close(AccessMode::Read), "acme/rules.yaml", false),
            (close(AccessMode::Write), "acme/rules.yaml", true),
        ] {
            let event = notify::Event::new(kind).add_path(path.into());
            assert_eq!(matters(&event), expected, "{kind:?} {path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn changes_are_told_when_they_end_or_after_the_longest_delay() {
        let (sender, mut changes) = mpsc::channel(1);
        let begin = Instant::now();
        settle(&mut changes).await;
        assert!(begin.elapsed() >= QUIET && begin.elapsed() < MAX_DELAY / 2);
        let endless = tokio::spawn(async move {
            while sender.send(()).await.is_ok() {
                tokio::time::sleep(QUIET / 2).await;
            }
        });
        let begin = Instant::now();
        settle(&mut changes).await;
        // The clock of timers counts milliseconds.
        assert!(begin.elapsed() < MAX_DELAY * 2 && begin.elapsed() > MAX_DELAY / 2);
        drop(changes);
        endless.await.expect("ends");
    }
}
