//! Follows the folder of `portcullis dev DIR`: a change of a file is stored and served, and a fault changes nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::examples::Examples;
use super::folders;
use super::loading;
use super::report::{Reports, user_changes};
use super::tenants::{ServedTenant, Source};
use super::watcher::FolderWatcher;

/// Reads all tenants of a folder.
///
/// # Errors
/// Every fault, as text for the user.
pub(super) fn read_all(dir: &Path) -> Result<Vec<Arc<ServedTenant>>, Vec<String>> {
    let (mut tenants, mut faults) = (Vec::new(), Vec::new());
    for folder in folders::tenant_folders(dir).map_err(|fault| vec![fault])? {
        match read(&folder, &tenants) {
            Ok(tenant) => tenants.push(tenant),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(tenants) } else { Err(faults) }
}

/// Reads a tenant folder. A tenant that another folder has already is a fault.
fn read(folder: &Path, earlier: &[Arc<ServedTenant>]) -> Result<Arc<ServedTenant>, String> {
    let bundle = folders::read(folder)?;
    let taken = earlier.iter().find(|other| other.bundle.tenant == bundle.tenant);
    match taken.map(|other| &other.source) {
        Some(Source::Folder(other)) => Err(format!(
            "`{}` and `{}` are the same tenant `{}`: give one of them another id",
            other.display(),
            folder.display(),
            bundle.tenant
        )),
        _ => Ok(Arc::new(ServedTenant { bundle, source: Source::Folder(folder.to_owned()) })),
    }
}

/// A served folder.
pub(super) struct Reloader {
    examples: Examples,
    dir: PathBuf,
    watcher: FolderWatcher,
    reports: Reports,
}

impl Reloader {
    /// Begins to watch the folder.
    ///
    /// # Errors
    /// The operating system gives no watch.
    pub(super) fn new(examples: Examples, dir: &Path) -> anyhow::Result<Self> {
        let watcher = FolderWatcher::new(folders::watched(dir))?;
        Ok(Self { examples, dir: dir.to_owned(), watcher, reports: Reports::default() })
    }

    /// Prints the failed cases, and then a report after each change. Never ends while files can be watched.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) async fn follow(mut self) -> anyhow::Result<()> {
        let mut text = String::new();
        for tenant in self.examples.tenants.all() {
            if let Source::Folder(folder) = &tenant.source {
                text += &self.reports.started(folder, &tenant.bundle);
            }
        }
        // The files may have changed since they were read for the first time.
        text += &self.reload().await;
        loop {
            std::io::stdout().write_all(text.as_bytes())?;
            if !self.watcher.changed().await {
                return Ok(());
            }
            // New folders are watched before they are read, so that no change in between is missed.
            if let Err(error) = self.watcher.follow(folders::watched(&self.dir)) {
                tracing::warn!("{error:#}; start again after a change there");
            }
            text = self.reload().await;
        }
    }

    /// Reads the folder again, serves what is valid, and returns what is to be printed.
    async fn reload(&mut self) -> String {
        let found = match folders::tenant_folders(&self.dir) {
            Ok(found) => found,
            Err(fault) => return self.reports.fault(&self.dir.clone(), &fault),
        };
        let old = self.examples.tenants.all();
        let (mut next, mut text) = (Vec::new(), String::new());
        for tenant in &old {
            if let Source::Folder(folder) = &tenant.source
                && !found.contains(folder)
            {
                text += &self.missing(folder, tenant, &mut next);
            }
        }
        for folder in found {
            let source = Source::Folder(folder.clone());
            let before = old.iter().find(|tenant| tenant.source == source);
            match self.load(&folder, before, &next).await {
                Ok((tenant, report)) => {
                    next.push(tenant);
                    text += &report;
                }
                Err(fault) => {
                    next.extend(before.cloned());
                    text += &self.reports.fault(&folder, &fault);
                }
            }
        }
        text += &self.clear_others(&old, &next).await;
        self.examples.tenants.replace(next);
        text
    }

    /// Keeps a tenant whose folder lost its `tenant.yaml`, because an editor may replace a file in two steps. A tenant
    /// whose folder is gone is gone, too.
    fn missing(
        &mut self,
        folder: &Path,
        tenant: &Arc<ServedTenant>,
        next: &mut Vec<Arc<ServedTenant>>,
    ) -> String {
        if !folder.exists() {
            return self.reports.gone(folder, &tenant.bundle.tenant);
        }
        next.push(Arc::clone(tenant));
        self.reports.fault(folder, &format!("`{}` has no `tenant.yaml`", folder.display()))
    }

    /// Removes everything that decides from the tenants that are not served any more. Returns the faults.
    async fn clear_others(
        &mut self,
        old: &[Arc<ServedTenant>],
        next: &[Arc<ServedTenant>],
    ) -> String {
        let mut faults = String::new();
        for tenant in old.iter().map(|tenant| &tenant.bundle.tenant) {
            if next.iter().any(|served| served.bundle.tenant == *tenant) {
                continue;
            }
            if let Err(error) = loading::clear(&self.examples.app, tenant).await {
                faults += &format!("the tenant `{tenant}` keeps its rules: {error:#}\n");
            }
        }
        faults
    }

    /// Reads a tenant folder, stores what changed, and returns the tenant with the report.
    async fn load(
        &mut self,
        folder: &Path,
        before: Option<&Arc<ServedTenant>>,
        earlier: &[Arc<ServedTenant>],
    ) -> Result<(Arc<ServedTenant>, String), String> {
        let tenant = read(folder, earlier)?;
        let Examples { app, base_url, .. } = &self.examples;
        let stored = loading::make_equal(app, &tenant, base_url).await;
        let mut changes = stored.map_err(|error| format!("{}: {error:#}", folder.display()))?;
        changes.extend(user_changes(before.map(|old| &old.bundle), &tenant.bundle));
        let report = self.reports.loaded(folder, &tenant.bundle, &changes);
        Ok((tenant, report))
    }
}
