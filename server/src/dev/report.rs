//! The lines that `portcullis dev` prints about a reload.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use portcullis_bundle::Bundle;

use super::cases::CaseResults;
use super::changes::{ChangeKind, ObjectChange};

/// The most changes that are shown.
const MAX_SHOWN: usize = 20;

/// The reports of each folder. A reload that changes nothing and repeats the last report prints nothing: an editor may
/// write a file twice.
#[derive(Debug, Default)]
pub(super) struct Reports {
    last: HashMap<PathBuf, String>,
}

impl Reports {
    /// Notes the state of a tenant whose folder was read without faults, and returns what is to be printed.
    pub(super) fn loaded(
        &mut self,
        folder: &Path,
        bundle: &Bundle,
        changes: &[ObjectChange],
        results: &CaseResults,
    ) -> String {
        let state = state(bundle, results);
        let is_known = self.last.insert(folder.to_owned(), state.clone()) == Some(state);
        if is_known && changes.is_empty() {
            return String::new();
        }
        let (what, summary) = (summary(changes), results.summary());
        let mut text = format!("reloaded `{}`: {what}; {summary}\n", bundle.tenant);
        for change in changes.iter().take(MAX_SHOWN) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {change}");
        }
        if changes.len() > MAX_SHOWN {
            let _ = writeln!(text, "  and {} more changes", changes.len() - MAX_SHOWN);
        }
        text + &warnings(bundle) + &results.to_string()
    }

    /// Notes the state of a tenant at the start, and returns its warnings and failed cases.
    pub(super) fn started(
        &mut self,
        folder: &Path,
        bundle: &Bundle,
        results: &CaseResults,
    ) -> String {
        let summary = results.summary();
        self.last.insert(folder.to_owned(), state(bundle, results));
        if results.all_pass() && bundle.warnings.is_empty() {
            return String::new();
        }
        format!("serving `{}`: {summary}\n{}{results}", bundle.tenant, warnings(bundle))
    }

    /// Notes a fault of a folder, and returns what is to be printed.
    pub(super) fn fault(&mut self, folder: &Path, fault: &str) -> String {
        if self.last.insert(folder.to_owned(), fault.to_owned()).as_deref() == Some(fault) {
            return String::new();
        }
        format!("not reloaded, the state before is served: {fault}\n")
    }

    /// Forgets a folder that is gone, and returns what is to be printed.
    pub(super) fn gone(&mut self, folder: &Path, tenant: &str) -> String {
        self.last.remove(folder);
        format!("`{tenant}` is not served any more: the folder `{}` is gone\n", folder.display())
    }
}

/// Returns the text that tells one state of a tenant from the next one.
fn state(bundle: &Bundle, results: &CaseResults) -> String {
    format!("{}\n{}{results}", results.summary(), warnings(bundle))
}

/// Returns a line for each warning about the folder.
fn warnings(bundle: &Bundle) -> String {
    bundle.warnings.iter().map(|warning| format!("  warning: {warning}\n")).collect()
}

/// Returns a summary such as `1 added, 2 removed`.
fn summary(changes: &[ObjectChange]) -> String {
    let kinds = [
        (ChangeKind::Added, "added"),
        (ChangeKind::Changed, "changed"),
        (ChangeKind::Removed, "removed"),
    ];
    let counts = kinds
        .map(|(kind, word)| (changes.iter().filter(|change| change.kind == kind).count(), word));
    let parts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { "no object changed".to_owned() } else { parts.join(", ") }
}

/// Returns the changes of the users, which no database has.
pub(super) fn user_changes(old: Option<&Bundle>, new: &Bundle) -> Vec<ObjectChange> {
    let Some(old) = old else { return vec![] };
    let gone = old.users.iter().filter(|user| new.user(&user.sub).is_none());
    let gone = gone.map(|user| (ChangeKind::Removed, user));
    let changed = new.users.iter().filter_map(|user| match old.user(&user.sub) {
        None => Some((ChangeKind::Added, user)),
        Some(known) if known.claims != user.claims => Some((ChangeKind::Changed, user)),
        Some(_) => None,
    });
    let changes = gone.chain(changed);
    changes.map(|(kind, user)| ObjectChange::new(kind, "user", &user.sub)).collect()
}

#[cfg(test)]
mod tests {
    use portcullis_config::Variables;
    use portcullis_test_tenants::{edit, write_tenant};

    use super::*;

    async fn results(folder: &Path, bundle: &Bundle) -> CaseResults {
        let variables = Variables::load(None).expect("variables").only(&[]);
        CaseResults::new(folder, bundle, &variables).await
    }

    #[tokio::test]
    async fn a_report_says_what_changed_and_which_cases_fail_once() {
        let folder = tempfile::tempdir().expect("a folder");
        write_tenant(folder.path());
        let read = || Bundle::read_folder(folder.path()).expect("sound");
        let mut reports = Reports::default();
        let before = read();
        let good = results(folder.path(), &before).await;
        assert_eq!(reports.started(folder.path(), &before, &good), "");
        assert_eq!(reports.loaded(folder.path(), &before, &[], &good), "");

        edit(folder.path(), "cases.yaml", "{decision: allow, ", "{decision: deny, ");
        edit(folder.path(), "tenant.yaml", "mfa: true", "mfa: false");
        let after = read();
        let changes = user_changes(Some(&before), &after);
        let bad = results(folder.path(), &after).await;
        let expected = "reloaded `acme`: 1 changed; 1 of 2 cases pass
  ~ user `ann`
  FAILED  a reader reads
          expected  deny by `reader, acme, wiki:read, read`
          got       allow by `reader, acme, wiki:read, read`
          why       RBAC rule `reader, acme, wiki:read, read` allows
";
        assert_eq!(reports.loaded(folder.path(), &after, &changes, &bad), expected);
        assert_eq!(reports.loaded(folder.path(), &after, &[], &bad), "");

        let fault = reports.fault(folder.path(), "rules.yaml: broken");
        assert_eq!(fault, "not reloaded, the state before is served: rules.yaml: broken\n");
        assert_eq!(reports.fault(folder.path(), "rules.yaml: broken"), "");
        let healed = reports.loaded(folder.path(), &before, &[], &good);
        assert_eq!(healed, "reloaded `acme`: no object changed; all 2 cases pass\n");
    }

    #[tokio::test]
    async fn warnings_are_reported_at_the_start_and_after_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        write_tenant(folder.path());
        let read = || Bundle::read_folder(folder.path()).expect("sound");
        let before = read();
        edit(folder.path(), "policies.yaml", "resource: wiki:read", "resource: wikki:read");
        let after = read();
        let good = results(folder.path(), &after).await;
        let warning = format!("  warning: {}\n", after.warnings.concat());
        assert!(warning.contains("policies.yaml:7:13: no registered resource"), "{warning}");
        let mut reports = Reports::default();
        let started = reports.started(folder.path(), &after, &good);
        assert_eq!(started, format!("serving `acme`: all 2 cases pass\n{warning}"));
        let expected = "reloaded `acme`: no object changed; all 2 cases pass\n";
        assert_eq!(reports.loaded(folder.path(), &before, &[], &good), expected);
        let again = reports.loaded(folder.path(), &after, &[], &good);
        assert_eq!(again, format!("{expected}{warning}"));
    }

    #[tokio::test]
    async fn many_changes_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        write_tenant(folder.path());
        let bundle = Bundle::read_folder(folder.path()).expect("sound");
        let change = |at: usize| ObjectChange::new(ChangeKind::Removed, "rule", at);
        let changes: Vec<_> = (0..MAX_SHOWN + 3).map(change).collect();
        let results = results(folder.path(), &bundle).await;
        let text = Reports::default().loaded(folder.path(), &bundle, &changes, &results);
        assert!(
            text.starts_with("reloaded `acme`: 23 removed; all 2 cases pass\n  - rule `0`\n"),
            "{text}"
        );
        assert!(text.ends_with("  - rule `19`\n  and 3 more changes\n"), "{text}");
    }
}
