//! Cases whose decision rests on an undetermined condition.

use portcullis_test_tenants::edit;

use super::tests::{tenant, test};
use super::*;
use crate::exit::REFUSED;

/// A case of a check without `resource.locked` and of one without `user.level`.
const UNDETERMINED: &str = "- name: nothing says that it is locked
  check: {subject: bob, resource: wiki:read, action: read}
  expect: {decision: deny, rule: locked}
- name: nobody is known to be high
  check: {subject: bob, resource: wiki:write, action: write, attributes: {resource: {locked: false}}}
  expect: {decision: deny, rule: default-deny}
- name: a missing attribute that changes nothing
  as: ann
  check: {subject: ann, resource: wiki:read, action: read, attributes: {resource: {locked: false}}}
  expect: {decision: allow, rule: 'reader, acme, wiki:read, read'}
- name: an allow does not beat a deny of RBAC
  check: {subject: writer, resource: wiki:read, action: read, attributes: {resource: {locked: false}}}
  expect: {decision: deny, rule: 'writer, acme, wiki:read, read'}
- name: an allow behind a deny
  check: {subject: bob, resource: wiki:read, action: read, attributes: {resource: {locked: true}}}
  expect: {decision: deny, rule: locked}
";

/// A tenant with a deny that needs `resource.locked`, and an allow that needs `user.level`.
fn undetermined() -> (tempfile::TempDir, PathBuf) {
    let (folder, tenant) = tenant();
    edit(&tenant, "policies.yaml", ", if_missing: false", "");
    edit(
        &tenant,
        "policies.yaml",
        "- name: off",
        "- name: high\n  resource: wiki:*\n  effect: allow\n  priority: 1\n  \
         rule_data: {type: CONDITION, attribute: user.level, operator: gte, value: 3}\n- name: off",
    );
    fs::write(tenant.join("cases.yaml"), UNDETERMINED).expect("writable");
    (folder, tenant)
}

#[test]
fn a_case_that_rests_on_something_undetermined_fails() {
    let (_folder, tenant) = undetermined();
    let (status, out, err) = test(&[&tenant], None);
    let advice = "          so        complete the case, or write `undetermined: allowed` if it is about this";
    let expected = format!(
        "
  FAILED  nothing says that it is locked
          got       deny by `locked`, as expected
          but       the condition of `locked` is undetermined: attribute `resource.locked` is missing
          when      resource.locked == true
{advice}
  FAILED  nobody is known to be high
          got       deny by `default-deny`, as expected
          but       the condition of `high` is undetermined: attribute `user.level` is missing
          when      user.level >= 3
{advice}
  ok      a missing attribute that changes nothing
  ok      an allow does not beat a deny of RBAC
  ok      an allow behind a deny
"
    );
    assert!(out.contains(&expected), "{out}");
    assert_eq!((status, &*err), (ExitCode::FAILURE, ""));
    // Before the deny, it would allow.
    edit(&tenant, "policies.yaml", "priority: 1\n", "priority: 11\n");
    let (_, out, _) = test(&[&tenant], Some("an allow behind a deny"));
    let cause = "the condition of `high` is undetermined: attribute `user.level` is missing";
    assert!(out.contains(cause), "{out}");
}

#[test]
fn a_case_may_be_about_something_undetermined() {
    let (_folder, tenant) = undetermined();
    let marked = UNDETERMINED.replace("  expect:", "  undetermined: allowed\n  expect:");
    fs::write(tenant.join("cases.yaml"), &marked).expect("writable");
    let (status, out, _) = test(&[&tenant], None);
    assert!(out.ends_with("5 passed, 0 failed\n"), "{out}");
    assert_eq!(status, ExitCode::SUCCESS);
    // The marker does not excuse another decision.
    let wrong = marked.replacen("rule: locked", "rule: default-deny", 1);
    fs::write(tenant.join("cases.yaml"), wrong).expect("writable");
    assert_eq!(test(&[&tenant], None).0, ExitCode::FAILURE);
    fs::write(tenant.join("cases.yaml"), marked.replace("allowed", "yes")).expect("writable");
    let (status, _, err) = test(&[&tenant], None);
    assert!(err.contains("at `/0/undetermined`: expected `allowed`"), "{err}");
    assert_eq!(status, ExitCode::from(REFUSED));
}
