//! Follows the folder of `portcullis dev DIR`: a change of a file is stored and served, and a fault changes nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_config::Variables;
use portcullis_tools::policy_test::tenant_folders;

use super::cases::CaseResults;
use super::examples::Examples;
use super::folders;
use super::loading;
use super::report::{Reports, user_changes};
use super::tenants::{ServedTenant, Source};
use super::watcher::FolderWatcher;

/// A tenant folder with its tenant, or its fault as text for the user.
type ReadFolder = (PathBuf, Result<Arc<ServedTenant>, String>);

/// Reads all tenants of a folder.
///
/// # Errors
/// Every fault, as text for the user.
pub(super) fn read_all(dir: &Path) -> Result<Vec<Arc<ServedTenant>>, Vec<String>> {
    let found = tenant_folders(dir).map_err(|fault| vec![fault.to_string()])?;
    let (mut tenants, mut faults) = (Vec::new(), Vec::new());
    for (_, read) in read_folders(found, &[]) {
        match read {
            Ok(tenant) => tenants.push(tenant),
            Err(fault) => faults.push(fault),
        }
    }
    // Folders of the same tenant have the same fault.
    faults.dedup();
    if faults.is_empty() { Ok(tenants) } else { Err(faults) }
}

/// Reads tenant folders. Folders of the same tenant are a fault. A folder that cannot be read has the tenant that it has in
/// `old`.
fn read_folders(found: Vec<PathBuf>, old: &[Arc<ServedTenant>]) -> Vec<ReadFolder> {
    let mut all: Vec<ReadFolder> = found.into_iter().map(read).collect();
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (folder, read) in &all {
        let tenant = read
            .as_ref()
            .ok()
            .or_else(|| old.iter().find(|tenant| tenant.source == Source::Folder(folder.clone())));
        if let Some(tenant) = tenant {
            let folders = folders.entry(tenant.bundle.tenant.clone()).or_default();
            folders.push(format!("`{}`", folder.display()));
        }
    }
    for (_, read) in &mut all {
        if let Ok(tenant) = read
            && let Some(twins) = folders.get(&tenant.bundle.tenant).filter(|all| all.len() > 1)
        {
            let (folders, tenant) = (twins.join(" and "), &tenant.bundle.tenant);
            let fault =
                format!("{folders} are the same tenant `{tenant}`: give them different ids");
            *read = Err(fault);
        }
    }
    all
}

fn read(folder: PathBuf) -> ReadFolder {
    let bundle = folders::read(&folder);
    let source = Source::Folder(folder.clone());
    (folder, bundle.map(|bundle| Arc::new(ServedTenant { bundle, source })))
}

/// A served folder.
pub(super) struct Reloader {
    examples: Examples,
    dir: PathBuf,
    watcher: FolderWatcher,
    reports: Reports,
    /// The settings of the resolvers that cases call.
    variables: Variables,
}

impl Reloader {
    /// Begins to watch the folder.
    ///
    /// # Errors
    /// The operating system gives no watch.
    pub(super) fn new(
        examples: Examples,
        dir: &Path,
        variables: Variables,
    ) -> anyhow::Result<Self> {
        let watcher = FolderWatcher::new(folders::watched(dir))?;
        let reports = Reports::default();
        Ok(Self { examples, dir: dir.to_owned(), watcher, reports, variables })
    }

    /// Prints the failed cases, and then a report after each change. Never ends while files can be watched.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) async fn follow(mut self) -> anyhow::Result<()> {
        let mut text = String::new();
        for tenant in self.examples.tenants.all() {
            if let Source::Folder(folder) = &tenant.source {
                let results = CaseResults::new(folder, &tenant.bundle, &self.variables).await;
                text += &self.reports.started(folder, &tenant.bundle, &results);
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
        let found = match tenant_folders(&self.dir) {
            Ok(found) => found,
            Err(fault) => return self.reports.fault(&self.dir.clone(), &fault.to_string()),
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
        for (folder, read) in read_folders(found, &old) {
            let source = Source::Folder(folder.clone());
            let before = old.iter().find(|tenant| tenant.source == source);
            let loaded = match read {
                Ok(tenant) => self.load(&folder, &tenant, before).await.map(|text| (tenant, text)),
                Err(fault) => Err(fault),
            };
            match loaded {
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
        // After the rules are stored: whoever gets a token for a new user finds them.
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

    /// Stores what changed in a folder, and returns the report.
    async fn load(
        &mut self,
        folder: &Path,
        tenant: &ServedTenant,
        before: Option<&Arc<ServedTenant>>,
    ) -> Result<String, String> {
        let Examples { app, base_url, .. } = &self.examples;
        let id = &tenant.bundle.tenant;
        if !app.mode.serves(id) {
            return Err(format!(
                "`{}` has the tenant `{id}` now: start `portcullis dev` again to serve it",
                folder.display()
            ));
        }
        let stored = loading::make_equal(app, tenant, base_url).await;
        let mut changes = stored.map_err(|error| format!("{}: {error:#}", folder.display()))?;
        changes.extend(user_changes(before.map(|old| &old.bundle), &tenant.bundle));
        let results = CaseResults::new(folder, &tenant.bundle, &self.variables).await;
        Ok(self.reports.loaded(folder, &tenant.bundle, &changes, &results))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_test_tenants::{edit, write_tenant};

    use super::*;

    #[test]
    fn a_tenant_has_one_folder_also_while_another_is_faulty() {
        let root = tempfile::tempdir().expect("a folder");
        let [one, two] = ["one", "two"].map(|name| root.path().join(name));
        write_tenant(&one);
        let old = read_all(root.path()).expect("sound");
        assert_eq!(old.len(), 1);
        write_tenant(&two);
        let faults = read_all(root.path()).expect_err("the same tenant twice");
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("are the same tenant `acme`"), "{faults:?}");
        // The folder that cannot be read is still served as it was.
        edit(&one, "rules.yaml", "effect: deny", "effect: no");
        let read = read_folders(vec![one.clone(), two.clone()], &old);
        let faults: Vec<_> = read.into_iter().filter_map(|(_, read)| read.err()).collect();
        assert!(
            faults[0].contains("rules.yaml") && faults[1].contains("same tenant"),
            "{faults:?}"
        );
        edit(&two, "tenant.yaml", "tenant: acme", "tenant: beta");
        edit(&two, "cases.yaml", "reader, acme", "reader, beta");
        let read = read_folders(vec![one, two], &old);
        assert!(read[0].1.is_err() && read[1].1.is_ok());
    }
}
