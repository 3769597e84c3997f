//! Plans in files: `portcullis plan --out FILE` writes one, and `portcullis apply --plan FILE` carries it out if nothing
//! has changed.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form of the file.
pub(super) const VERSION: u32 = 1;

/// A plan that was made.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PlanFile {
    pub(super) version: u32,
    pub(super) owner: String,
    /// The digest of the folder's content without secrets.
    pub(super) content: String,
    pub(super) fingerprint: String,
    pub(super) prune: bool,
    pub(super) force: bool,
    pub(super) allow_deletes: bool,
    /// The answer of the service, for whoever reviews the file.
    pub(super) plan: Value,
}

impl PlanFile {
    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, text).with_context(|| file.display().to_string())
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// The file cannot be read or is not a plan.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| shown.to_string())?;
        let plan: Self = serde_json::from_str(&text)
            .with_context(|| format!("{shown}: expected a file of `portcullis plan --out`"))?;
        ensure!(
            plan.version == VERSION,
            "{shown}: expected version {VERSION}, not {}; make the plan again",
            plan.version
        );
        Ok(plan)
    }

    /// Makes sure that the plan is about this owner and this content.
    ///
    /// # Errors
    /// It is about others.
    pub(super) fn fits(&self, owner: &str, content: &str) -> anyhow::Result<()> {
        if self.owner != owner {
            bail!("the plan is for the owner `{}`, not `{owner}`; plan again", self.owner);
        }
        ensure!(
            self.content == content,
            "the folder has changed since the plan was made; plan again"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_and_fits_its_folder_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("plan.json");
        let plan = PlanFile {
            version: VERSION,
            owner: "git:a".to_owned(),
            content: "00".to_owned(),
            fingerprint: "sha256:1".to_owned(),
            prune: true,
            force: false,
            allow_deletes: false,
            plan: serde_json::json!({"revision": 1}),
        };
        plan.write(&file).expect("writable");
        let plan = PlanFile::read(&file).expect("a plan");
        assert_eq!(plan.fingerprint, "sha256:1");
        assert!(plan.fits("git:a", "00").is_ok());
        let error = |owner, content| plan.fits(owner, content).expect_err("refused").to_string();
        assert_eq!(
            error("git:b", "00"),
            "the plan is for the owner `git:a`, not `git:b`; plan again"
        );
        assert!(error("git:a", "01").contains("the folder has changed"));
        let text = fs::read_to_string(&file).expect("readable");
        fs::write(&file, text.replace("\"version\": 1", "\"version\": 2")).expect("writable");
        let error = PlanFile::read(&file).expect_err("refused").to_string();
        assert!(error.ends_with("expected version 1, not 2; make the plan again"), "{error}");
        fs::write(&file, "{}").expect("writable");
        let error = PlanFile::read(&file).expect_err("refused").to_string();
        assert!(error.ends_with("expected a file of `portcullis plan --out`"), "{error}");
    }
}
