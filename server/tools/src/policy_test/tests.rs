//! Whole runs: the output, the errors and the exit code.

use std::iter;
use std::path::Path;

use portcullis_test_tenants::{edit, write_tenant};

use super::*;
use crate::exit::REFUSED;

/// Exit status, standard output and standard error.
pub(super) type Ran = (ExitCode, String, String);

pub(super) fn test(paths: &[&Path], filter: Option<&str>) -> Ran {
    run_with(paths, |arguments| arguments.case = filter.map(str::to_owned))
}

fn run_with(paths: &[&Path], change: impl FnOnce(&mut CaseTestArguments)) -> Ran {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let mut arguments = CaseTestArguments { paths, ..CaseTestArguments::default() };
    change(&mut arguments);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = status_of(&arguments, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status, text(out), text(err))
}

fn status_of(arguments: &CaseTestArguments, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let variables = Variables::load(None).expect("an environment");
    runtime.block_on(run(arguments, &variables, out, err))
}

pub(super) fn tenant() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let tenant = folder.path().join("acme");
    write_tenant(&tenant);
    (folder, tenant)
}

#[test]
fn results_are_listed_and_what_nothing_covers_is_noted() {
    let (_folder, tenant) = tenant();
    let (status, out, err) = test(&[&tenant], None);
    let expected = format!(
        "tenant acme ({})
  ok      a reader reads
  ok      demo: nobody reads what is locked
  note: 2 of 4 policies and rules decide no case:
          `writer, acme, wiki:read, read`
          `guest, acme, wiki:read, read`

2 passed, 0 failed
",
        tenant.display()
    );
    assert_eq!((status, &*out, &*err), (ExitCode::SUCCESS, &*expected, ""));
}

#[test]
fn the_note_about_what_decides_no_case_is_short() {
    let (_folder, tenant) = tenant();
    edit(&tenant, "resources.yaml", "guest]", "guest, a, b, c, d]");
    let (status, out, _) = test(&[&tenant], None);
    let expected = "
  note: 6 of 8 policies and rules decide no case:
          `writer, acme, wiki:read, read`
          `guest, acme, wiki:read, read`
          `a, acme, wiki:read, read`
          `b, acme, wiki:read, read`
          `c, acme, wiki:read, read`
          and 1 more; `--coverage` shows all
";
    assert!(out.contains(expected), "{out}");
    assert_eq!(status, ExitCode::SUCCESS);
}

#[test]
fn warnings_are_listed_and_fail_nothing() {
    let (_folder, tenant) = tenant();
    edit(&tenant, "policies.yaml", "resource: wiki:read", "resource: wikki:read");
    let (status, out, err) = test(&[&tenant], None);
    let expected = format!(
        "\n  warning: {}/policies.yaml:7:13: no registered resource matches `wikki:read`; register it, or correct the \
         name\n  note: ",
        tenant.display()
    );
    assert!(out.contains(&expected), "{out}");
    assert_eq!((status, &*err), (ExitCode::SUCCESS, ""));
}

#[test]
fn a_mismatch_shows_what_came_instead_and_why() {
    let (_folder, tenant) = tenant();
    edit(&tenant, "cases.yaml", "{decision: allow, ", "{decision: deny, ");
    edit(&tenant, "cases.yaml", "rule: locked", "rule: default-deny");
    let (status, out, err) = test(&[&tenant], None);
    let expected = "
  FAILED  a reader reads
          expected  deny by `reader, acme, wiki:read, read`
          got       allow by `reader, acme, wiki:read, read`
          why       RBAC rule `reader, acme, wiki:read, read` allows
  FAILED  demo: nobody reads what is locked
          expected  deny by `default-deny`
          got       deny by `locked`
          why       ABAC policy `locked` denies: its condition is true
          when      `locked` is true: (resource.locked == true) ?? false
";
    assert!(out.contains(expected), "{out}");
    assert!(out.ends_with("\n0 passed, 2 failed\n"), "{out}");
    assert_eq!((status, &*err), (ExitCode::FAILURE, ""));
}

#[test]
fn a_filter_picks_cases_by_name() {
    let (folder, tenant) = tenant();
    write_tenant(&folder.path().join("other"));
    edit(&tenant, "cases.yaml", "a reader reads", "the needle");
    let (status, out, _) = test(&[folder.path()], Some("needle"));
    let heading = format!("tenant acme ({})", tenant.display());
    let expected = format!("{heading}\n  ok      the needle\n\n1 passed, 0 failed\n");
    assert_eq!((status, out), (ExitCode::SUCCESS, expected));
    let (status, out, err) = test(&[folder.path()], Some("thimble"));
    assert_eq!((status, &*out), (ExitCode::from(REFUSED), ""));
    assert_eq!(err, "no case found whose name contains `thimble`\n");
}

#[test]
fn folders_of_tenants_are_run_in_order() {
    let (folder, tenant) = tenant();
    write_tenant(&folder.path().join("zeta"));
    write_tenant(&folder.path().join("beta"));
    fs::create_dir(folder.path().join("no-tenant")).expect("writable");
    edit(&folder.path().join("zeta"), "tenant.yaml", "acme", "zeta");
    edit(&folder.path().join("zeta"), "cases.yaml", "reader, acme", "reader, zeta");
    let (status, out, _) = test(&[folder.path(), &tenant], None);
    let headings: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("tenant ")).collect();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let expected = ["acme", "beta", "zeta", "acme"].map(at);
    for (heading, folder) in iter::zip(&headings, &expected) {
        assert!(heading.ends_with(&format!("({folder})")), "{heading}");
    }
    assert_eq!((status, headings.len()), (ExitCode::SUCCESS, expected.len()));
    assert!(out.ends_with("\n8 passed, 0 failed\n"), "{out}");
}

#[test]
fn every_unusable_folder_is_reported_before_anything_runs() {
    let (folder, tenant) = tenant();
    let other = folder.path().join("other");
    write_tenant(&other);
    write_tenant(&folder.path().join("sound"));
    edit(&tenant, "cases.yaml", "as: ann", "as: anne");
    edit(&other, "policies.yaml", "operator: exists", "operator: is");
    let missing = folder.path().join("missing");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("writable");
    let (status, out, err) = test(&[folder.path(), &missing, &empty], None);
    assert_eq!((status, &*out), (ExitCode::from(REFUSED), ""));
    let lines: Vec<_> = err.lines().collect();
    let [acme, other, missing, empty] = &*lines else { panic!("{err}") };
    assert!(acme.contains("/acme/cases.yaml:2:7: at `/0/as`: expected "), "{acme}");
    assert!(other.contains("/other/policies.yaml:"), "{other}");
    assert!(other.contains(": at `/1/rule_data/operator`: "), "{other}");
    assert!(missing.contains("/missing: cannot be read: "), "{missing}");
    assert!(empty.contains("/empty: expected a tenant folder "), "{empty}");
}

#[test]
fn a_file_is_refused_with_its_folder() {
    let (_folder, tenant) = tenant();
    let file = tenant.join("cases.yaml");
    let (status, out, err) = test(&[&file], None);
    let folder = tenant.display();
    let expected = "expected a folder, not a file; give its folder";
    assert_eq!((status, &*out), (ExitCode::from(REFUSED), ""));
    assert_eq!(err, format!("{folder}/cases.yaml: {expected} `{folder}`\n"));
}

#[test]
fn no_case_at_all_is_no_success() {
    let (_folder, tenant) = tenant();
    fs::write(tenant.join("cases.yaml"), "[]").expect("writable");
    assert_eq!(
        test(&[&tenant], None),
        (ExitCode::from(REFUSED), String::new(), "no case found\n".to_owned())
    );
    assert_eq!(test(&[], None).0, ExitCode::from(REFUSED));
}

#[test]
fn results_that_cannot_be_written_are_no_success() {
    let (_folder, tenant) = tenant();
    let mut err = Vec::new();
    // A writer without room, like a full disk.
    let arguments = CaseTestArguments { paths: vec![tenant], ..CaseTestArguments::default() };
    let status = status_of(&arguments, &mut [0; 4].as_mut_slice(), &mut err);
    let err = String::from_utf8(err).expect("text");
    assert!(err.starts_with("the results cannot be written: "), "{err}");
    assert_eq!(status, ExitCode::from(REFUSED));
}

#[test]
fn coverage_is_counted_for_each_policy_branch_and_rule() {
    let (_folder, tenant) = tenant();
    let (status, out, _) = run_with(&[&tenant], |arguments| arguments.coverage = true);
    let expected = "
  coverage: 4 of 6 points (66 %)
      true  false  undetermined  decides  branches  policy
         1      1             0        1       2/2  locked
    matches  decides  rule
          0        0  writer, acme, wiki:read, read
          1        1  reader, acme, wiki:read, read
          0        0  guest, acme, wiki:read, read
    not covered: `writer, acme, wiki:read, read` decides no case
    not covered: `guest, acme, wiki:read, read` decides no case
";
    assert!(out.contains(expected), "{out}");
    assert_eq!(status, ExitCode::SUCCESS);
    let (_, out, _) = run_with(&[&tenant], |arguments| {
        arguments.coverage = true;
        arguments.case = Some("a reader".to_owned());
    });
    let expected = "    not covered: `locked`: `resource.locked eq true` is never true\n";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn too_little_coverage_is_a_failure() {
    let (_folder, tenant) = tenant();
    for (percent, status, verdict) in
        [(66, ExitCode::SUCCESS, "ok"), (67, ExitCode::FAILURE, "FAILED")]
    {
        let ran = run_with(&[&tenant], |arguments| arguments.min_coverage = Some(percent));
        let line =
            format!("coverage {verdict}: 4 of 6 points (66 %), at least {percent} % wanted\n");
        assert!(ran.1.contains(&line), "{}", ran.1);
        assert_eq!(ran.0, status);
    }
}

#[test]
fn results_are_written_for_other_programs() {
    let (folder, tenant) = tenant();
    edit(&tenant, "cases.yaml", "a reader reads", "'a reader <reads> & \"writes\"'");
    edit(&tenant, "cases.yaml", "rule: locked", "rule: default-deny");
    let file = folder.path().join("results.xml");
    let (status, ..) = run_with(&[&tenant], |arguments| arguments.junit = Some(file.clone()));
    assert_eq!(status, ExitCode::FAILURE);
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"portcullis test\" tests=\"2\" failures=\"1\" errors=\"0\">
  <testsuite name=\"acme\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">
    <testcase classname=\"acme\" name=\"a reader &lt;reads&gt; &amp; &quot;writes&quot;\"/>
    <testcase classname=\"acme\" name=\"demo: nobody reads what is locked\">
      <failure message=\"expected: deny by `default-deny`; got: deny by `locked`; why: ABAC policy `locked` denies: \
                    its condition is true; when: `locked` is true: (resource.locked == true) ?? false\">expected: deny by `default-deny`&#10;got: deny by `locked`&#10;why: \
                    ABAC policy `locked` denies: its condition is true&#10;when: `locked` is true: \
                    (resource.locked == true) ?? false</failure>
    </testcase>
  </testsuite>
</testsuites>
";
    assert_eq!(fs::read_to_string(&file).expect("written"), expected);
    let nowhere = folder.path().join("missing/results.xml");
    let (status, out, err) = run_with(&[&tenant], |arguments| arguments.junit = Some(nowhere));
    assert_eq!((status, &*out), (ExitCode::from(REFUSED), ""));
    assert!(err.contains("/missing/results.xml: cannot be written: "), "{err}");
}

#[test]
fn every_sample_case_passes_and_every_sample_rule_decides_one() {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let (status, out, err) = test(&[&policies], None);
    assert_eq!((status, &*err), (ExitCode::SUCCESS, ""), "{out}");
    assert_eq!(out.matches("  note: each of the ").count(), 6, "{out}");
}

#[test]
fn the_tuples_of_the_folder_answer_what_rules_ask() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    let case = |subject: &str, decision: &str, rule: &str| {
        format!(
            "- name: {subject}\n  check: {{subject: {subject}, resource: \"doc:read\", action: read, \
             attributes: {{resource: {{id: q3}}}}}}\n  expect: {{decision: {decision}, rule: \"{rule}\"}}\n"
        )
    };
    let cases = [
        case("ann", "allow", "viewer@resource, *, doc:read, read"),
        case("bob", "deny", "default-deny"),
        case("cid", "allow", "viewer@resource, *, doc:read, read")
            + "  relations: [{object: \"doc:q3\", relation: viewer, subject: \"user:cid\"}]\n",
    ];
    for (name, text) in [
        ("tenant.yaml", "tenant: acme\nusers: []\n"),
        ("types.yaml", "- {type: doc, relations: {viewer: \"[user]\"}}\n"),
        ("relations.yaml", "- {object: \"doc:q3\", relation: viewer, subject: \"user:ann\"}\n"),
        ("resources.yaml", "- {name: \"doc:read\"}\n"),
        (
            "rules.yaml",
            "- {sub: viewer@resource, dom: \"*\", obj: \"doc:read\", act: read, effect: allow}\n",
        ),
        ("policies.yaml", "[]\n"),
        ("cases.yaml", &*cases.concat()),
    ] {
        write(name, text);
    }
    let (status, out, err) = test(&[folder.path()], None);
    assert_eq!(status, ExitCode::SUCCESS, "{out}{err}");
    write("relations.yaml", "[]\n");
    let (status, out, err) = test(&[folder.path()], None);
    assert_eq!(status, ExitCode::FAILURE, "{out}{err}");
    // A role of an entity lets in, too.
    write("relations.yaml", "- {object: \"doc:q3\", relation: viewer, subject: \"user:ann\"}\n");
    write("entities.yaml", "- {type: user, id: bob, roles: [auditor]}\n");
    let audits = "- {sub: auditor, dom: \"*\", obj: \"doc:read\", act: read, effect: allow}\n";
    let reads =
        "- {sub: viewer@resource, dom: \"*\", obj: \"doc:read\", act: read, effect: allow}\n";
    write("rules.yaml", &[reads, audits].concat());
    let cases = [
        &*case("ann", "allow", "viewer@resource, *, doc:read, read"),
        "",
        &*case("bob", "allow", "auditor, *, doc:read, read"),
    ];
    write("cases.yaml", &cases.concat());
    let (status, out, err) = test(&[folder.path()], None);
    assert_eq!(status, ExitCode::SUCCESS, "{out}{err}");
    write("entities.yaml", "- {type: user, id: bob}\n- {type: user, id: bob}\n");
    let (status, _, err) = test(&[folder.path()], None);
    assert!(
        status == ExitCode::from(REFUSED) && err.contains("an earlier item also has `user:bob`"),
        "{err}"
    );
    write("entities.yaml", "[]\n");
    write("relations.yaml", "- {object: \"doc:q3\", relation: viewer, subject: \"doc:q3\"}\n");
    let (status, _, err) = test(&[folder.path()], None);
    assert!(
        status == ExitCode::from(REFUSED)
            && err.contains("relations.yaml:1:")
            && err
                .contains("`/0/subject`: expected a subject that `viewer` of `doc` stores: `user`"),
        "{err}"
    );
}
