//! The files that a forge reads: pipelines and forms of issues, against the official schemas.

use super::{document, follows, programs};

#[test]
fn pipelines_and_forms_follow_their_schemas() {
    let Some(bin) = programs() else { return };
    let github = |name: &str| format!("deploy/ci/github/{name}");
    for name in ["test", "nightly", "release"] {
        let path = github(&format!("workflows/{name}.yml"));
        follows(&bin, "vendor.github-workflows", &path, ("runs-on:", "runs:"));
        let permissions = document(&path)["permissions"].take();
        assert!(permissions["contents"].is_string(), "{name}: {permissions}");
    }
    for name in ["fault", "wish"] {
        let path = github(&format!("ISSUE_TEMPLATE/{name}.yml"));
        follows(&bin, "vendor.github-issue-forms", &path, ("type: textarea", "type: area"));
    }
    let path = github("ISSUE_TEMPLATE/config.yml");
    follows(&bin, "vendor.github-issue-config", &path, ("contact_links:", "contacts:"));
    follows(
        &bin,
        "vendor.github-actions",
        &github("action.yml"),
        ("using: composite", "using: me"),
    );
    let path = "deploy/ci/portcullis.gitlab-ci.yml";
    follows(&bin, "vendor.gitlab-ci", path, ("when: always", "when: ever"));
}
