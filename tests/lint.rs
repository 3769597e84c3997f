//! `portcullis lint`: mistakes in tenant folders, without a server (`docs/lint.md`).

use crate::support::process::{finish, portcullis, repository};

#[test]
fn the_samples_are_clean() {
    let mut command = portcullis(&["lint", "--deny-warnings"]);
    command.arg(repository().join("policies"));
    let finished = finish(command);
    assert_eq!(finished.out, "0 errors, 0 warnings, 0 notes in 6 folders");
    assert_eq!(finished.code, Some(0));
}

#[test]
fn findings_faults_and_arguments_have_exit_codes() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("tenant.yaml", "tenant: acme\nusers: []\n");
    write("resources.yaml", "- {name: doc:read, defaultRoles: []}\n");
    write("rules.yaml", "- {sub: ann, obj: doc:raed, act: '*', effect: allow}\n");
    write("policies.yaml", "[]\n");
    write("cases.yaml", "[]\n");
    let lint = |arguments: &[&str]| {
        let mut command = portcullis(&["lint"]);
        command.current_dir(directory.path()).args(arguments);
        finish(command)
    };
    let finding = "rules.yaml:1:19: warning UNREGISTERED: no registered resource matches `doc:raed`\n    \
                   register it, or correct the name\n0 errors, 1 warning, 0 notes in 1 folder";
    let found = lint(&[]);
    assert_eq!((found.code, &*found.out), (Some(0), finding));
    let failed = lint(&["--deny-warnings"]);
    assert_eq!((failed.code, &*failed.out), (Some(1), finding));
    assert_eq!(lint(&["--deny-warnings", "--allow", "UNREGISTERED"]).code, Some(0));
    let explained = lint(&["--explain", "UNREGISTERED"]);
    assert!(explained.out.starts_with("UNREGISTERED\n\nSeverity: warning.\n"));
    let unknown = lint(&["--explain", "UNREGISTRED"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("expected `ACTION_NOT_VERB`"), "{}", unknown.err);
    write("rules.yaml", "- {sub: ann}\n");
    let refused = lint(&[]);
    assert_eq!((refused.code, &*refused.out), (Some(2), ""));
    assert!(refused.err.contains("rules.yaml:1:3: "), "{}", refused.err);
}
